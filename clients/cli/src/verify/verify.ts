import type { Hex } from 'viem'
import { publishedText } from '../../../../oracle/stablecoins.js'
import type { Client, GetDepthData, GetPegData, GetStablecoinData } from '../../../typescript/src/client.js'
import { jsonTo, lines, type Output } from '../output.js'
import { addressOf } from '../stables.js'
import { printable, sampleTime, shownTime } from '../text.js'
import { compared, exitCodeOf, type Finding, findingLines, unchecked } from './findings.js'
import {
  adminOf,
  capOf,
  DEPTH_SIZES,
  depthOf,
  depthPeriodOf,
  hasOlderPrice,
  policyTypeOf,
  priceOf,
  type Quotes,
  type Sample,
} from './formulas.js'
import { quotesFromLogs } from './logs.js'
import { type Block, type ChainNode, NodeError, newestBlockAt } from './node.js'
import { quotesFromState, readState } from './reads.js'

/** If more blocks lie between the last price and the instant, they are not all read. */
const MOST_UNQUOTED_BLOCKS = 256
/** Without an instant: one that the newest block on its way does not change. */
const DEFAULT_AT = '1m'

type Coverage = GetPegData['coverage']

/** Why the service cannot know a block, as its answer says itself; null if it should. */
function excuseFor({ missing }: Coverage, { time }: Block): string | null {
  const range = missing.find(({ from, to }) => Date.parse(from) / 1000 < time && time <= Date.parse(to) / 1000)
  return range ? `the answer says that this block is missing: ${range.reason}` : null
}

/** A comparison, which is excused where the answer itself says that the block is missing. */
function comparedAt(coverage: Coverage, what: string, block: Block, published: unknown, recomputed: unknown): Finding {
  const finding = compared(what, block, published, recomputed)
  const excuse = finding.status === 'mismatch' ? excuseFor(coverage, block) : null
  return excuse === null ? finding : unchecked(what, published, excuse, block)
}

/** Findings of what needs a node's answer; one that says why if there is none. */
async function reading(what: string, block: Block | null, read: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof NodeError) return [unchecked(what, null, error.message, block)]
    throw error
  }
}

type Context = { node: ChainNode; quotes: Quotes; stable: Hex; newest: Block }

/** Which block the price should be of: the newest one with a price. `now` is the sample of the newest block. */
async function blockOfPrice(context: Context, now: Sample, { current, coverage }: GetPegData): Promise<Finding> {
  const { node, quotes, stable, newest } = context
  const what = 'current.block_number'
  const published = current?.block_number ?? null
  if (now.sell.amount !== null) return comparedAt(coverage, what, newest, published, newest.number)
  if (!hasOlderPrice(now)) return comparedAt(coverage, what, newest, published, null)
  if (current === null)
    return unchecked(
      what,
      published,
      `no price at this block (${now.sell.status}); an older one was not looked for`,
      newest,
    )
  const between = newest.number - current.block_number - 1
  if (between > MOST_UNQUOTED_BLOCKS)
    return unchecked(what, published, `${between} blocks lie between this price and the instant`, newest)
  for (let number = newest.number - 1; number > current.block_number; number--) {
    const block = await node.block(number)
    if (!block) throw new NodeError(`the node does not have block ${number}`)
    if ((await quotes.sample(stable, block)).sell.amount !== null)
      return comparedAt(coverage, what, block, published, number)
  }
  return compared(what, newest, published, current.block_number)
}

async function pegFindings(context: Context, peg: GetPegData, detail: GetStablecoinData): Promise<Finding[]> {
  const { node, quotes, stable, newest } = context
  const { current, coverage } = peg
  if (!detail.tracked) return [unchecked('current', current, 'the service does not sample this stable')]
  const now = await quotes.sample(stable, newest)
  const which = await blockOfPrice(context, now, peg)
  if (current === null) return [which]
  const block = current.block_number === newest.number ? newest : await node.block(current.block_number)
  if (!block) return [which, unchecked('current', current, 'the node does not have this block')]
  const { sell, buy } = block === newest ? now : await quotes.sample(stable, block)
  return [
    which,
    compared('current.sampled_at', block, sampleTime(current.sampled_at), shownTime(new Date(block.time * 1000))),
    compared('current.price_vs_refusd', block, current.price_vs_refusd, priceOf(sell).price),
    compared('current.spread_bps', block, current.spread_bps, priceOf(sell).spread_bps),
    compared('current.buy_price', block, current.buy_price, priceOf(buy).price),
    comparedAt(coverage, 'current.quoted', newest, current.quoted, now.sell.amount !== null),
    compared('peg.price', block, detail.peg?.price ?? null, priceOf(sell).price),
  ]
}

async function stateFindings({ node, stable, newest }: Context, detail: GetStablecoinData): Promise<Finding[]> {
  const state = await readState(node, stable, newest)
  const { coverage, supply, policy } = detail
  const compare = (what: string, published: unknown, recomputed: unknown): Finding =>
    comparedAt(coverage, what, newest, published, recomputed)
  const texts = [
    compare('symbol', detail.symbol, publishedText('symbol', state.symbol)),
    compare('currency', detail.currency, publishedText('currency', state.currency)),
  ]
  if (supply === null || policy === null)
    return [...texts, unchecked('supply and policy', null, 'the service has not read them')]
  return [
    ...texts,
    compare('supply.current', supply.current, `${state.supply}`),
    compare('supply.cap', supply.cap, capOf(state.cap)),
    compare('policy.policy_id', policy.policy_id, `${state.policyId}`),
    compare('policy.type', policy.type, policyTypeOf(state.policyId, state.policyType)),
    compare('policy.policy_admin', policy.policy_admin, adminOf(state.policyAdmin)),
    compare('policy.paused', policy.paused, state.paused),
  ]
}

async function depthFindings({ node, quotes, stable, newest }: Context, depth: GetDepthData): Promise<Finding[]> {
  const { block_number, sampled_at, sizes } = depth
  if (block_number === null || sampled_at === null) {
    const { sell } = await quotes.sample(stable, newest)
    // Of these no depth is sampled.
    if (['anchor', 'not_usd', 'too_deep'].includes(sell.status)) return [compared('depth', newest, sizes, [])]
    return [unchecked('depth', null, 'the service has no depth sample')]
  }
  const block = await node.block(block_number)
  if (!block) return [unchecked('depth', block_number, 'the node does not have this block')]
  const { single, depths } = await quotes.depth(stable, block)
  const isDue = block.number <= newest.number && depthPeriodOf(block.time) === depthPeriodOf(newest.time)
  const age = comparedAt(depth.coverage, 'depth is of the newest five minutes', newest, true, isDue)
  return [
    age,
    compared('depth.sampled_at', block, shownTime(sampled_at), shownTime(new Date(block.time * 1000))),
    compared('depth.sizes', block, sizes.map(({ size_tokens }) => size_tokens).join(), DEPTH_SIZES.join()),
    ...depths.flatMap(({ size, sell, buy }) => {
      const published = sizes.find(({ size_tokens }) => size_tokens === size)
      return [
        compared(`depth.sell ${size}`, block, published?.sell ?? null, depthOf('sell', size, sell, single.sell)),
        compared(`depth.buy ${size}`, block, published?.buy ?? null, depthOf('buy', size, buy, single.buy)),
      ]
    }),
  ]
}

export type Verification = {
  address: string
  symbol: string
  as_of: string
  chain_id: number
  result: 'match' | 'mismatch' | 'unchecked'
  findings: Finding[]
}

/** Whether an answer is about the instant that was asked for. Only the service knows the clock of a relative time. */
function instantFinding(at: string | undefined, as_of: string, block: Block): Finding[] {
  if (at === undefined || !/^\d{4}-/.test(at)) return []
  return [compared('as_of', block, as_of, shownTime(at))]
}

/**
 * Asks the service about a stable as of an instant, reads the same from a node, and compares: price, deviation, supply, cap,
 * policy and depth. Rejects with NodeError if the node does not answer at all.
 */
async function verified(
  client: Client,
  node: ChainNode,
  { address, at, byLogs }: { address: string; at: string | undefined; byLogs: boolean },
  signal: AbortSignal,
): Promise<Verification> {
  const peg = await client.getPeg({ address, as_of: at ?? DEFAULT_AT }, { signal })
  const as_of = peg.as_of
  if (as_of === undefined) throw new Error('the answer does not say which instant it is about')
  const [detail, depth] = await Promise.all([
    client.getStablecoin({ address, as_of }, { signal }),
    client.getDepth({ address, as_of }, { signal }),
  ])
  const chain_id = await node.chainId()
  const instant = Math.floor(Date.parse(as_of) / 1000)
  const newest = await newestBlockAt(node, instant, peg.current?.block_number ?? null)
  const base = { address, symbol: detail.symbol, as_of, chain_id }
  const context = newest && {
    ...{ node, stable: address as Hex, newest },
    quotes: byLogs ? quotesFromLogs(node, chain_id, newest) : quotesFromState(node),
  }
  const findings = context
    ? [
        ...instantFinding(at, as_of, context.newest),
        ...(await reading('price', newest, () => pegFindings(context, peg, detail))),
        ...(await reading('supply and policy', newest, () => stateFindings(context, detail))),
        ...(await reading('depth', newest, () => depthFindings(context, depth))),
      ]
    : [unchecked('all of it', null, `the node has no block at or before ${as_of}`)]
  const result = (['match', 'mismatch', 'unchecked'] as const)[exitCodeOf(findings)]
  return { ...base, result, findings }
}

/** Verifies and prints. Returns the exit code. */
export async function verify(
  client: Client,
  node: ChainNode,
  { stable, at, byLogs }: { stable: string; at: string | undefined; byLogs: boolean },
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const address = await addressOf(client, stable, signal)
  const verification = await verified(client, node, { address, at, byLogs }, signal)
  const { symbol, as_of, chain_id, findings } = verification
  if (output.json) jsonTo(output, verification)
  else
    lines(output, [
      `${printable(symbol)} ${address} as of ${as_of}, by a node of chain ${chain_id}`,
      ...findingLines(findings),
    ])
  return exitCodeOf(findings)
}
