import type { ClickHouseClient } from '@clickhouse/client'
import { newestBatch } from '../../../clickhouse/chain/batches.js'
import { blockCounts, brokenLinks } from '../../../clickhouse/chain/invariants.js'
import { decisiveBooks, sampledPeriods } from '../../../clickhouse/chain/sampling.js'
import type { ListPeriod } from '../../../clickhouse/chain/token-lists.js'
import { miscountedBlocks, misplacedFacts } from '../../../clickhouse/facts/invariants.js'
import { differingChoices } from '../../../clickhouse/fees/choices.js'
import { differingBuckets } from '../../../clickhouse/flows/buckets.js'
import { flowEdges, flowGraph } from '../../../clickhouse/flows/flows.js'
import { differingMinutes, sampleCounts } from '../../../clickhouse/peg/invariants.js'
import type { Stablecoin } from '../../../clickhouse/stablecoins/stablecoins.js'
import { FIRST_BLOCK } from '../../../ingest/batch/decode.js'
import { END_OF_TIME } from '../../../process/instants.js'
import { compared, type Finding } from '../finding.js'
import { rangesOf, type Stretch } from '../stretches.js'

/** Ranges of blocks, both ends included. */
type Ranges = Array<[number, number]>

const sizeOf = (ranges: Ranges): number => ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
const within = (ranges: Ranges): string => `${sizeOf(ranges)} blocks in ${ranges.length} ranges`

/** The blocks of a range are complete and unique, and each is the child of the one before. */
export async function checkLinks(clickhouse: ClickHouseClient, ranges: Ranges): Promise<Finding> {
  const what = 'each block is the child of the one before'
  const broken = await brokenLinks(clickhouse, { ranges })
  const differences = broken.flatMap(({ block_number, previous_number }) => {
    if (block_number === previous_number) return [`block ${block_number} is stored more than once`]
    if (previous_number === block_number - 1)
      return [`block ${block_number} is not a child of block ${previous_number}`]
    // Blocks between two ranges are not stored.
    return ranges
      .map(([from, to]) => [Math.max(from, previous_number + 1), Math.min(to, block_number - 1)] as const)
      .filter(([from, to]) => from <= to)
      .map(([from, to]) => `blocks ${from} to ${to} are missing`)
  })
  const counts = await blockCounts(clickhouse, { ranges })
  const incomplete = ranges.flatMap(([from, to]) => {
    const blocks = counts.find(({ from_block }) => from_block === from)?.blocks ?? 0
    return blocks === to - from + 1 ? [] : [`${blocks} of the ${to - from + 1} blocks ${from} to ${to} are stored`]
  })
  return compared(what, within(ranges), [...differences, ...incomplete])
}

/** Every fact belongs to a stored block and has its time. */
export async function checkPlaces(clickhouse: ClickHouseClient, ranges: Ranges): Promise<Finding> {
  const tables = await misplacedFacts(clickhouse, { ranges })
  const differences = tables
    .filter(({ facts }) => facts > 0)
    .map(({ fact_table, facts }) => `${facts} of ${fact_table}`)
  return compared(
    'every fact stands in a block, at its time',
    `${tables.length} tables, ${within(ranges)}`,
    differences,
  )
}

/**
 * Every fact of a log is stored once, and its log index is within its block's log count; no block has more fees than
 * transactions.
 */
export async function checkLogCounts(clickhouse: ClickHouseClient, ranges: Ranges): Promise<Finding> {
  const wrong = await miscountedBlocks(clickhouse, { ranges })
  const differences = wrong.map(({ block_number, reason }) => `block ${block_number} ${reason}`)
  return compared('facts fit the logs and transactions of their block', within(ranges), differences)
}

/** Every stable has one sample in each block in which the list of its time sampled it, except in blocks that are not stored. */
export async function checkSampleCounts(
  clickhouse: ClickHouseClient,
  stretches: readonly Stretch[],
  stables: readonly Stablecoin[],
  periods: readonly ListPeriod[],
): Promise<Finding> {
  const sampling = sampledPeriods(periods, await decisiveBooks(clickhouse, periods, Number.MAX_SAFE_INTEGER))
  const tracked = stables.filter(({ stable }) => sampling.some(({ sampledFrom }) => sampledFrom(stable)))
  const wrong: Array<{ missing: number; text: string }> = []
  let [checked, gaps] = [0, 0]
  for (const { stable, block_number } of tracked) {
    const created = Math.max(block_number, FIRST_BLOCK)
    const last = stretches.at(-1)?.to ?? 0
    const sampled = sampling.flatMap(({ to_block, sampledFrom }): [number, number][] => {
      const began = sampledFrom(stable)
      return began ? [[Math.max(began.block_number, created), Math.min(last, (to_block ?? last + 1) - 1)]] : []
    })
    const ranges = rangesOf(stretches, 'pegs', stable)
      .flatMap(([from, to]) =>
        sampled.map(([first, last]): [number, number] => [Math.max(from, first), Math.min(to, last)]),
      )
      .filter(([from, to]) => from <= to)
    const blocks = sizeOf(ranges)
    const { samples, sampled_blocks } = await sampleCounts(clickhouse, { stable, ranges })
    if (samples !== blocks || sampled_blocks !== blocks) {
      const text = `${stable}: ${samples} samples of ${sampled_blocks} blocks, instead of ${blocks}`
      wrong.push({ missing: Math.abs(blocks - samples), text })
    }
    checked += blocks
    gaps += sizeOf(sampled.filter(([from, to]) => from <= to)) - blocks
  }
  const scope = `${tracked.length} stables, ${checked} blocks of theirs${gaps === 0 ? '' : `, ${gaps} are not in`}`
  wrong.sort((a, b) => b.missing - a.missing)
  return compared(
    'one sample a stable and block',
    scope,
    wrong.map(({ text }) => text),
  )
}

/** Later than any minute that may be requested: the end of the minute after it still fits a DateTime. */
const LAST_MINUTE = END_OF_TIME - 120

/**
 * What `find` returns up to the end of time; while ingest writes, only up to `time`, because a view's row is written
 * after its facts.
 */
async function ofViews<Row>(
  clickhouse: ClickHouseClient,
  time: number,
  find: (to: number) => Promise<Row[]>,
): Promise<{ isStill: boolean; rows: Row[] }> {
  const batch = () => newestBatch(clickhouse, { track: 'tip' })
  const before = await batch()
  const rows = await find(LAST_MINUTE)
  const after = await batch()
  const isStill = before?.committed === true && before.sequence_number === after?.sequence_number
  return { isStill, rows: isStill ? rows : await find(time) }
}

/**
 * Every minute state equals the sum of the minute's samples. While ingest writes, only minutes that ended before
 * `time`, in unix seconds, are checked.
 */
export async function checkMinutes(clickhouse: ClickHouseClient, time: number): Promise<Finding> {
  const { isStill, rows: minutes } = await ofViews(clickhouse, time - 60, (to) => differingMinutes(clickhouse, { to }))
  const differences = minutes.map(({ stable, minute }) => `${stable}, the minute that ends at ${minute}`)
  const scope = isStill ? 'all minutes' : `minutes before ${new Date(time * 1000).toISOString()}, as ingest writes`
  return compared('minute states add up', scope, differences)
}

/**
 * Every flow bucket equals the sum of the flows of its 15 minutes, and every edge begins with its first flow. While
 * ingest writes, only windows that ended before `time`, in unix seconds, are checked.
 */
export async function checkBuckets(clickhouse: ClickHouseClient, time: number): Promise<Finding> {
  const { isStill, rows } = await ofViews(clickhouse, time, (to) => differingBuckets(clickhouse, { to }))
  const differences = rows.map(({ edge, bucket }) => `${edge}, the window from ${bucket}`)
  const scope = isStill ? 'all windows' : `windows before ${new Date(time * 1000).toISOString()}, as ingest writes`
  return compared('flow buckets add up', scope, differences)
}

/**
 * The last choice of each account in each month and year is that of its choices. While ingest writes, only spans that started
 * before the one of `time`, in unix seconds, are checked.
 */
export async function checkChoices(clickhouse: ClickHouseClient, time: number): Promise<Finding> {
  const { isStill, rows } = await ofViews(clickhouse, time, (to) => differingChoices(clickhouse, { to }))
  const differences = rows.map(({ span, differing }) => `${span}: ${differing} rows`)
  const scope = isStill
    ? 'all months and years'
    : `those before ${new Date(time * 1000).toISOString()}, as ingest writes`
  return compared('last choices of fee tokens are kept', scope, differences)
}

/** Stables have sent as much as they have received, in total and edge by edge, in the graph that the API returns. */
export async function checkDoubleEntry(clickhouse: ClickHouseClient, from: Date, to: Date): Promise<Finding> {
  const edges = await flowEdges(clickhouse, { from, to })
  const { nodes } = flowGraph(edges)
  const micros = (usd: string): bigint => BigInt(usd.replace('.', ''))
  const differences = nodes.flatMap(({ address, inbound_usd, outbound_usd }) => {
    const sum = (side: 'from_address' | 'to_address'): bigint =>
      edges
        .filter((edge) => edge[side] === address)
        .reduce((total, { volume_micros }) => total + BigInt(volume_micros), 0n)
    const [sent, received] = [sum('from_address'), sum('to_address')]
    return micros(outbound_usd) === sent && micros(inbound_usd) === received
      ? []
      : [
          `${address}: the edges add up to ${sent} out and ${received} in, the node has ${outbound_usd} and ${inbound_usd}`,
        ]
  })
  const total = (side: 'inbound_usd' | 'outbound_usd'): bigint =>
    nodes.reduce((sum, node) => sum + micros(node[side]), 0n)
  if (total('inbound_usd') !== total('outbound_usd')) differences.push('the total sent differs from the total received')
  const selfEdges = edges.filter((edge) => edge.from_address === edge.to_address)
  differences.push(...selfEdges.map((edge) => `an edge from ${edge.from_address} to itself`))
  return compared('every edge is double-entry', `${edges.length} edges`, differences)
}
