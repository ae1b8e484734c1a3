import type { ClickHouseClient } from '@clickhouse/client'
import { flowEdges } from '../../../clickhouse/queries/flow-edges.js'
import { brokenLinks } from '../../../clickhouse/queries/invariants/broken-links.js'
import { differingMinutes } from '../../../clickhouse/queries/invariants/differing-minutes.js'
import { miscountedBlocks } from '../../../clickhouse/queries/invariants/miscounted-blocks.js'
import { misplacedFacts } from '../../../clickhouse/queries/invariants/misplaced-facts.js'
import { sampleCounts } from '../../../clickhouse/queries/invariants/sample-counts.js'
import { newestBatch } from '../../../clickhouse/queries/newest-batch.js'
import { flowGraph } from '../../../domain/flow-graph.js'
import { compared, type Finding } from '../finding.js'

/** Blocks up to `last` follow each other: none is there twice or missing, each is the child of the one before. */
export async function checkLinks(clickhouse: ClickHouseClient, last: number): Promise<Finding> {
  const broken = await brokenLinks(clickhouse, { to: last })
  const differences = broken.map(({ block_number, previous_number }) => {
    if (block_number === previous_number) return `block ${block_number} is there more than once`
    if (previous_number === block_number - 1) return `block ${block_number} is no child of block ${previous_number}`
    return `blocks ${previous_number + 1} to ${block_number - 1} are missing`
  })
  return compared('each block is the child of the one before', `all blocks up to ${last}`, differences)
}

/** Every fact up to `last` stands in a block that is there, at its time. */
export async function checkPlaces(clickhouse: ClickHouseClient, last: number): Promise<Finding> {
  const tables = await misplacedFacts(clickhouse, { to: last })
  const differences = tables
    .filter(({ facts }) => facts > 0)
    .map(({ fact_table, facts }) => `${facts} of ${fact_table}`)
  return compared('every fact stands in a block, at its time', `${tables.length} tables`, differences)
}

/** Every fact of a log stands once, within the logs that its block has; no block has more fees than transactions. */
export async function checkLogCounts(clickhouse: ClickHouseClient, last: number): Promise<Finding> {
  const wrong = await miscountedBlocks(clickhouse, { to: last })
  const differences = wrong.map(({ block_number, reason }) => `block ${block_number} ${reason}`)
  return compared('facts fit the logs and transactions of their block', `all blocks up to ${last}`, differences)
}

/** Every stable that is tracked has one sample in each block from its creation to `last`. */
export async function checkSampleCounts(
  clickhouse: ClickHouseClient,
  last: number,
  track: 'all' | 'listed',
): Promise<Finding> {
  const stables = await sampleCounts(clickhouse, { to: last, track })
  const differences = stables
    .filter(({ samples, sampled_blocks, blocks }) => samples !== blocks || sampled_blocks !== blocks)
    .map(
      ({ stable, samples, sampled_blocks, blocks }) =>
        `${stable}: ${samples} samples of ${sampled_blocks} blocks, where ${blocks} blocks are`,
    )
  return compared('one sample a stable and block', `${stables.length} stables up to block ${last}`, differences)
}

/** Later than any minute; a DateTime ends less than two minutes after. */
const END_OF_TIME = 4_294_967_200

/**
 * Every minute state is what the samples of its minute add up to. While ingest writes, of the minutes that were over
 * at `time`, in unix seconds: a state is written after its samples.
 */
export async function checkMinutes(clickhouse: ClickHouseClient, time: number): Promise<Finding> {
  const batch = async () => (await newestBatch(clickhouse, { track: 'tip' }))[0]
  const before = await batch()
  let minutes = await differingMinutes(clickhouse, { to: END_OF_TIME })
  const after = await batch()
  const isStill = before?.committed === true && before.sequence_number === after?.sequence_number
  if (!isStill) minutes = await differingMinutes(clickhouse, { to: time - 60 })
  const differences = minutes.map(({ stable, minute }) => `${stable}, the minute that ends at ${minute}`)
  const scope = isStill ? 'all minutes' : `minutes before ${new Date(time * 1000).toISOString()}, as ingest writes`
  return compared('minute states add up', scope, differences)
}

/** What the stables sent is what they received, in sum and edge by edge, in the graph that the API answers with. */
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
      : [`${address}: the edges say ${sent} out and ${received} in, the node ${outbound_usd} and ${inbound_usd}`]
  })
  const total = (side: 'inbound_usd' | 'outbound_usd'): bigint =>
    nodes.reduce((sum, node) => sum + micros(node[side]), 0n)
  if (total('inbound_usd') !== total('outbound_usd')) differences.push('what was sent is not what was received')
  const selfEdges = edges.filter((edge) => edge.from_address === edge.to_address)
  differences.push(...selfEdges.map((edge) => `an edge from ${edge.from_address} to itself`))
  return compared('every edge is double-entry', `${edges.length} edges`, differences)
}
