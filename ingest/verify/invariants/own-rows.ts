import type { ClickHouseClient } from '@clickhouse/client'
import { flowEdges } from '../../../clickhouse/queries/flow-edges.js'
import { brokenLinks } from '../../../clickhouse/queries/invariants/broken-links.js'
import { differingMinutes } from '../../../clickhouse/queries/invariants/differing-minutes.js'
import { misplacedFacts } from '../../../clickhouse/queries/invariants/misplaced-facts.js'
import { sampleCounts } from '../../../clickhouse/queries/invariants/sample-counts.js'
import { flowGraph } from '../../../domain/flow-graph.js'
import { compared, type Finding } from '../finding.js'

/** Blocks follow each other: none is there twice, each is the child of the one before. */
export async function checkLinks(clickhouse: ClickHouseClient): Promise<Finding> {
  const broken = await brokenLinks(clickhouse, {})
  const differences = broken.map(({ block_number, previous_number }) =>
    block_number === previous_number
      ? `block ${block_number} is there more than once`
      : `block ${block_number} is no child of block ${previous_number}`,
  )
  return compared('each block is the child of the one before', 'all blocks', differences)
}

/** Every fact stands in a block that is there, at its time. */
export async function checkPlaces(clickhouse: ClickHouseClient): Promise<Finding> {
  const tables = await misplacedFacts(clickhouse, {})
  const differences = tables
    .filter(({ facts }) => facts > 0)
    .map(({ fact_table, facts }) => `${facts} of ${fact_table}`)
  return compared('every fact stands in a block, at its time', `${tables.length} tables`, differences)
}

/** Every stable has one sample in each block from its creation to `last`, but for `isExpected` it has none at all. */
export async function checkSampleCounts(clickhouse: ClickHouseClient, last: number): Promise<Finding> {
  const stables = await sampleCounts(clickhouse, { to: last })
  const differences = stables
    .filter(({ samples, sampled_blocks, blocks }) => samples !== blocks || sampled_blocks !== blocks)
    .map(
      ({ stable, samples, sampled_blocks, blocks }) =>
        `${stable}: ${samples} samples of ${sampled_blocks} blocks, where ${blocks} blocks are`,
    )
  return compared('one sample a stable and block', `${stables.length} stables up to block ${last}`, differences)
}

/** Every minute state is what the samples of its minute add up to. */
export async function checkMinutes(clickhouse: ClickHouseClient): Promise<Finding> {
  const minutes = await differingMinutes(clickhouse, {})
  const differences = minutes.map(({ stable, minute }) => `${stable}, the minute that ends at ${minute}`)
  return compared('minute states add up', 'all minutes', differences)
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
