import type { ClickHouseClient } from '@clickhouse/client'
import { blockAt } from '../../clickhouse/chain/blocks.js'
import { coveredRanges } from '../../clickhouse/chain/covered-ranges.js'
import { declaredGaps } from '../../clickhouse/chain/gaps.js'
import { allHistoryChanges } from '../../clickhouse/chain/history-changes.js'
import { allRollbacks } from '../../clickhouse/chain/rollbacks.js'
import { tokenLists } from '../../clickhouse/chain/token-lists.js'
import { type Facts, mergeFacts } from '../../clickhouse/facts/facts.js'
import { feesLetGoUntil } from '../../clickhouse/facts/retention.js'
import { completedSlots } from '../../clickhouse/jobs/runs.js'
import type { Payee } from '../../clickhouse/payments/ledger.js'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import { FIRST_BLOCK } from '../../ingest/batch/decode.js'
import { slotsByJob } from '../../oracle/searched.js'
import { PlumblineError } from '../../process/errors.js'
import type { Api } from './answers/ask.js'
import { chainFacts } from './answers/chain-facts.js'
import { compareAnswers, KIND_COUNT } from './answers/compare-answers.js'
import { askBriefings, compareBriefings, type LiveBriefing } from './answers/live-answers.js'
import { compareFacts } from './compare-facts.js'
import { type Finding, notChecked } from './finding.js'
import { checkFees, checkSupply } from './invariants/chain-amounts.js'
import { checkHolders } from './invariants/holders.js'
import {
  checkBuckets,
  checkChoices,
  checkDoubleEntry,
  checkLinks,
  checkLogCounts,
  checkMinutes,
  checkPlaces,
  checkSampleCounts,
} from './invariants/own-rows.js'
import { checkPayments } from './invariants/payments.js'
import { type Reread, type RereadOptions, rereadAll, rereadSome } from './reread.js'
import { hasBlocks, rangesOf, type Stretch, sampleBlocks, stretchesOf } from './stretches.js'

export type VerifyOptions = RereadOptions & {
  /** A client with a session, for temporary tables. */
  session: ClickHouseClient
  /** How many blocks to read again; null for all of them. */
  blocks: number | null
  seed: number
  /** How many published answers to recompute from the blocks, and the API to ask; null for none. */
  answers: { count: number; api: Api } | null
  /** The recipient of payments with each currency, if one is configured. */
  payees: readonly Payee[]
  onProgress: (done: number, of: number) => void
}

/** The published briefings: as many as answers of any other kind. */
async function readBriefings({ clickhouse, seed, answers }: VerifyOptions): Promise<LiveBriefing[]> {
  if (answers === null) return []
  const created = await allStablecoins(clickhouse, { before_block: Number.MAX_SAFE_INTEGER })
  const count = Math.floor(answers.count / KIND_COUNT)
  return askBriefings(answers.api, { stables: created.map(({ stable }) => stable), count, seed })
}

/** Everything that was read again, and how many blocks of it have no state, because the node dropped it. */
type AllRead = { parts: readonly Facts[]; pruned: number; stretches: readonly Stretch[]; briefings: LiveBriefing[] }

/** Published answers against what the facts of all blocks give. */
async function checkAnswers(options: VerifyOptions, read: AllRead): Promise<Finding[]> {
  const { answers, clickhouse, seed, onProgress } = options
  const { parts, pruned, stretches, briefings } = read
  if (answers === null) return []
  if (pruned > 0)
    return [notChecked('answers recomputed from the node', `the node no longer has the state of ${pruned} blocks`)]
  const facts = chainFacts(mergeFacts(parts), {
    lists: await tokenLists(clickhouse),
    gaps: await declaredGaps(clickhouse, {}),
    stretches,
    slots: slotsByJob(
      await completedSlots(clickhouse),
      await allRollbacks(clickhouse),
      await allHistoryChanges(clickhouse),
    ),
  })
  const count = answers.count - briefings.length
  const findings = await compareAnswers(facts, { ...answers, seed, onProgress, count })
  return [...findings, compareBriefings(facts, briefings)]
}

/** There is nothing to verify, or the catalogue that is needed to decode it is missing. */
class NothingInError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** Number of blocks that are compared at a time. */
const COMPARED_TOGETHER = 100

/** Whether the next facts can be compared together with those of `sum`. */
const canMerge = (sum: Reread, next: Reread): boolean =>
  sum.blocks < COMPARED_TOGETHER &&
  sum.hasStates === next.hasStates &&
  sum.stretch === next.stretch &&
  sum.numbers.length > 0 === next.numbers.length > 0

/**
 * Merges the facts of consecutive ranges of a stretch until they cover about COMPARED_TOGETHER blocks, keeping those
 * with and without states apart.
 */
async function* mergeRanges(ranges: AsyncIterable<Reread>): AsyncGenerator<Reread> {
  let sum: Reread | undefined
  for await (const next of ranges) {
    if (sum && canMerge(sum, next)) {
      sum = {
        ...sum,
        facts: mergeFacts([sum.facts, next.facts]),
        to: next.to,
        numbers: [...sum.numbers, ...next.numbers],
        blocks: sum.blocks + next.blocks,
      }
    } else {
      if (sum) yield sum
      sum = next
    }
  }
  if (sum) yield sum
}

/** The `blocks` to read again, among those with more than the catalogue, and how many of them are in each stretch. */
function pick({ blocks, seed }: VerifyOptions, stretches: readonly Stretch[]) {
  const full = stretches.filter(hasBlocks)
  if (blocks === null)
    return { numbers: null, blocksIn: new Map(full.map((stretch) => [stretch, stretch.to - stretch.from + 1])) }
  // Counted through all stretches as if they were contiguous.
  const sizes = full.map(({ from, to }) => to - from + 1)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const blocksIn = new Map<Stretch, number>()
  const numbers = sampleBlocks(0, total - 1, blocks, seed).map((index) => {
    let [i, offset] = [0, index]
    while (offset >= (sizes[i] as number)) offset -= sizes[i++] as number
    const stretch = full[i] as Stretch
    blocksIn.set(stretch, (blocksIn.get(stretch) ?? 0) + 1)
    return stretch.from + offset
  })
  return { numbers, blocksIn }
}

/**
 * Reads blocks again from the node and compares all of their facts with the database, then checks the invariants of the
 * database as a whole: one finding for each. Data that is not stored is not checked. Ingest may run meanwhile, because
 * nothing after the tip's newest block is checked.
 */
export async function verify(options: VerifyOptions): Promise<Finding[]> {
  const { clickhouse, session, rpc, periods, payees, onProgress } = options
  const briefings = await readBriefings(options)
  const letGoUntil = await feesLetGoUntil(clickhouse)
  const covered = await coveredRanges(clickhouse)
  const last = Math.max(0, ...covered.filter(({ family }) => family === 'logs').map(({ to_block }) => to_block))
  const stretches = stretchesOf(covered, await declaredGaps(clickhouse, {}), last)
  if (!stretches.some(hasBlocks)) throw new NothingInError('no blocks are stored yet: run npm run ingest first')
  const unknown = stretches.find(
    ({ isIn }, i) => isIn.catalogue !== 'all' || (i === 0 && stretches[0]?.from !== FIRST_BLOCK),
  )
  if (unknown)
    throw new NothingInError(`the catalogue of block ${unknown.from} is not stored: run npm run ingest first`)

  const { numbers, blocksIn } = pick(options, stretches)
  const reread = numbers === null ? rereadAll(options, stretches) : rereadSome(options, stretches, numbers)
  const comparison = compareFacts(session, letGoUntil)
  const blockCount = [...blocksIn.values()].reduce((sum, count) => sum + count, 0)
  const parts: Facts[] = []
  let [done, pruned] = [0, 0]
  for await (const range of mergeRanges(reread)) {
    await comparison.compare(range)
    if (options.answers !== null) parts.push(range.facts)
    if (!range.hasStates) pruned += range.blocks
    done += range.blocks
    onProgress(done, blockCount)
  }

  const ranges = rangesOf(stretches, 'logs')
  const endsOfAll = async (blockRanges: typeof ranges) =>
    (await Promise.all(blockRanges.map((range) => endsOf(clickhouse, range)))).flatMap((end) => (end ? [end] : []))
  const [logEnds, transferEnds] = [await endsOfAll(ranges), await endsOfAll(rangesOf(stretches, 'transfers'))]
  const stables = await allStablecoins(clickhouse, { before_block: last + 1 })
  const lastTime = logEnds.at(-1)?.time ?? 0
  const amounts = { clickhouse, rpc, stables, ranges: logEnds }
  return [
    ...comparison.findings(blocksIn),
    ...(await checkAnswers(options, { parts, pruned, stretches, briefings })),
    await checkLinks(clickhouse, ranges),
    await checkPlaces(clickhouse, ranges),
    await checkLogCounts(clickhouse, ranges),
    await checkSampleCounts(clickhouse, stretches, stables, periods),
    await checkMinutes(clickhouse, lastTime),
    await checkBuckets(clickhouse, lastTime),
    await checkChoices(clickhouse, lastTime),
    await checkDoubleEntry(clickhouse, new Date(0), new Date((lastTime + 1) * 1000)),
    await checkSupply(amounts),
    await checkFees(amounts, letGoUntil),
    ...(await checkHolders({ clickhouse, rpc, stables, ranges: transferEnds, seed: options.seed })),
    await checkPayments({ clickhouse, rpc, payees, fromBlock: ranges[0]?.[0] ?? FIRST_BLOCK }),
  ]
}

/**
 * The first and the last block of a range, and the time of the last; null if one is missing, which the block count
 * reports.
 */
async function endsOf(clickhouse: ClickHouseClient, [from, to]: readonly [number, number]) {
  const first = await blockAt(clickhouse, from)
  const last = await blockAt(clickhouse, to)
  if (!first || !last) return null
  return {
    first: { number: from, hash: first.block_hash, time: first.block_time },
    last: { number: to, hash: last.block_hash },
    time: last.block_time,
  }
}
