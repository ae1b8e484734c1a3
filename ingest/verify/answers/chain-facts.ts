import type { DepthSample } from '../../../clickhouse/depth/depth.js'
import type { Facts } from '../../../clickhouse/facts/facts.js'
import type { Flow } from '../../../clickhouse/flows/flows.js'
import type { PegSample } from '../../../clickhouse/peg/samples.js'
import type { StateRead } from '../../../clickhouse/stablecoins/states.js'
import type { SupplyEvent } from '../../../clickhouse/supply/supply.js'
import { ECONOMY_TABLES, type EconomyFacts, type Raw, type RecordedList } from '../definitions/rows.js'
import type { SnapshotFacts } from '../definitions/snapshot-facts.js'

/** The facts of the chain as the definitions of the published figures need them, all in chain order. */
export type ChainFacts = {
  economy: EconomyFacts
  snapshot: SnapshotFacts
  stables: readonly { stable: string; symbol: string; block_time: number }[]
  samples: ReadonlyMap<string, PegSample[]>
  depth: ReadonlyMap<string, DepthSample[]>
  states: ReadonlyMap<string, StateRead[]>
  supply: ReadonlyMap<string, SupplyEvent[]>
  flows: readonly Flow[]
  /** Times of the blocks, oldest first, in unix seconds. */
  times: readonly number[]
}

function byStable<Row extends { stable: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.stable)
    if (group) group.push(row)
    else groups.set(row.stable, [row])
  }
  return groups
}

type Position = { block_number: number; log_index?: number }

const inOrder = <Row extends Position>(rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => a.block_number - b.block_number || (a.log_index ?? 0) - (b.log_index ?? 0))

/** Arranges all facts of all blocks, and the token lists, which the chain does not have. */
export function chainFacts(facts: Facts, token_lists: RecordedList[]): ChainFacts {
  const economy = ECONOMY_TABLES.map((table) => {
    const rows: readonly (Position & { block_time: number })[] = facts[table]
    return [table, inOrder(rows).map((row) => ({ ...row, at: row.block_time }) as unknown as Raw)] as const
  })
  const withTime = <Row extends Position & { block_time: number }>(rows: readonly Row[]) =>
    inOrder(rows).map((row) => ({ ...row, t: row.block_time, block_number: `${row.block_number}` }))
  const times = facts.blocks.map(({ block_time }) => block_time).sort((a, b) => a - b)
  return {
    economy: { ...(Object.fromEntries(economy) as Omit<EconomyFacts, 'token_lists'>), token_lists },
    snapshot: {
      start: times[0] ?? 0,
      stables: withTime(facts.stablecoins),
      samples: byStable(withTime(facts.peg_samples)),
      states: byStable(withTime(facts.state_reads)),
      policyEvents: withTime(facts.policy_events),
    },
    stables: inOrder(facts.stablecoins),
    samples: byStable(inOrder(facts.peg_samples)),
    depth: byStable(inOrder(facts.depth_samples)),
    states: byStable(inOrder(facts.state_reads)),
    supply: byStable(inOrder(facts.supply_events)),
    flows: inOrder(facts.flows),
    times,
  }
}
