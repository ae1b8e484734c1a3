import type { ClickHouseClient } from '@clickhouse/client'
import { allStablecoins } from '../../clickhouse/queries/all-stablecoins.js'
import { blockHashes } from '../../clickhouse/queries/block-hashes.js'
import { mergeFacts } from '../../clickhouse/tables/facts.js'
import { PlumblineError } from '../../domain/errors.js'
import { FIRST_BLOCK } from '../decode.js'
import { compareFacts } from './compare-facts.js'
import type { Finding } from './finding.js'
import { checkFees, checkSupply } from './invariants/chain-amounts.js'
import {
  checkDoubleEntry,
  checkLinks,
  checkLogCounts,
  checkMinutes,
  checkPlaces,
  checkSampleCounts,
} from './invariants/own-rows.js'
import { type Reread, type RereadOptions, rereadAll, rereadSome } from './reread.js'
import { sampleBlocks } from './sample-blocks.js'

export type VerifyOptions = RereadOptions & {
  /** A client with a session, for temporary tables. */
  session: ClickHouseClient
  /** The newest block whose facts are to be there. */
  last: number
  /** How many blocks to read again; null for all of them. */
  blocks: number | null
  seed: number
  onProgress: (done: number, of: number) => void
}

/** The database does not go back to the first block, on which everything later depends. */
class NoBeginningError extends PlumblineError {
  constructor() {
    super(`block ${FIRST_BLOCK} is not in: verify needs the history from its beginning, which npm run backfill reads`, {
      retryable: false,
    })
  }
}

/** Blocks that are compared in one go. */
const COMPARED_TOGETHER = 100

/** Facts of several ranges as those of one, about so many blocks at a time; with states or without. */
async function* together(ranges: AsyncIterable<Reread>): AsyncGenerator<Reread> {
  let sum: Reread | undefined
  for await (const range of ranges) {
    if (sum && (sum.blocks >= COMPARED_TOGETHER || sum.hasStates !== range.hasStates)) {
      yield sum
      sum = undefined
    }
    const before: Reread = sum ?? { ...range, facts: mergeFacts([]), blocks: 0 }
    sum = { ...before, facts: mergeFacts([before.facts, range.facts]), blocks: before.blocks + range.blocks }
  }
  if (sum) yield sum
}

/**
 * Reads blocks again from the node and compares all of their facts with the database, then checks what has to hold for
 * the database as a whole: one finding for each. Ingest may run meanwhile, as nothing after `last` is looked at.
 */
export async function verify(options: VerifyOptions): Promise<Finding[]> {
  const { clickhouse, session, rpc, last, blocks, seed, onProgress } = options
  const hashes = await blockHashes(clickhouse, { from_block: FIRST_BLOCK, to_block: FIRST_BLOCK })
  const newest = await blockHashes(clickhouse, { from_block: last, to_block: last })
  const [firstHash, lastHash] = [hashes[0]?.block_hash, newest[0]?.block_hash]
  if (firstHash === undefined || lastHash === undefined) throw new NoBeginningError()

  const numbers = blocks === null ? null : sampleBlocks(FIRST_BLOCK, last, blocks, seed)
  const reread = numbers === null ? rereadAll(options, FIRST_BLOCK, last) : rereadSome(options, numbers)
  const comparison = compareFacts(session)
  let done = 0
  const asked = numbers?.length ?? last - FIRST_BLOCK + 1
  for await (const range of together(reread)) {
    await comparison.compare(range)
    done += range.blocks
    onProgress(done, asked)
  }
  const lastTime = newest[0]?.block_time ?? 0

  const stretch = {
    clickhouse,
    rpc,
    stables: await allStablecoins(clickhouse, { before_block: last + 1 }),
    first: { number: FIRST_BLOCK, hash: firstHash },
    last: { number: last, hash: lastHash },
  }
  return [
    ...comparison.findings(asked),
    await checkLinks(clickhouse, last),
    await checkPlaces(clickhouse, last),
    await checkLogCounts(clickhouse, last),
    await checkSampleCounts(clickhouse, last, options.track),
    await checkMinutes(clickhouse, lastTime),
    await checkDoubleEntry(clickhouse, new Date(0), new Date(lastTime * 1000)),
    await checkSupply(stretch),
    await checkFees(stretch),
  ]
}
