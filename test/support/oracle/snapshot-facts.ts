import type { ClickHouseClient } from '@clickhouse/client'
import { tokenLists } from '../../../clickhouse/chain/token-lists.js'
import type { Sample, SnapshotFacts, State } from '../../../oracle/snapshot-facts.js'

function byStable<Row extends { stable: string }>(rows: Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) groups.set(row.stable, [...(groups.get(row.stable) ?? []), row])
  return groups
}

/** Reads whole tables, as plain rows. */
export async function snapshotFacts(clickhouse: ClickHouseClient): Promise<SnapshotFacts> {
  const rows = async <Row>(table: string): Promise<Row[]> => {
    const query = `SELECT *, toUnixTimestamp(block_time) AS t FROM ${table} ORDER BY ${table}.block_number`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>() as Promise<Row[]>
  }
  const blocks = await rows<{ t: number }>('blocks')
  return {
    start: Math.min(...blocks.map(({ t }) => t)),
    stables: await rows('stablecoins'),
    lists: (await tokenLists(clickhouse)).toSorted((a, b) => a.sequence_number - b.sequence_number),
    pairs: (await rows<{ base: string; quote: string; t: number }>('dex_pairs')).map(({ t: at, ...pair }) => ({
      ...pair,
      at,
    })),
    samples: byStable(await rows<Sample>('peg_samples')),
    states: byStable(await rows<State>('state_reads')),
    policyEvents: await rows('policy_events'),
  }
}
