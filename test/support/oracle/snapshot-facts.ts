import type { ClickHouseClient } from '@clickhouse/client'

type Sample = { stable: string; block_number: string; t: number; status: string; sell_micros: number | null }
type State = {
  stable: string
  block_number: string
  t: number
  supply_raw: string
  cap_raw: string
  paused: boolean
  policy_id: string
  policy_type: string
}
type PolicyEvent = {
  kind: string
  stable: string | null
  policy_id: string | null
  sender_policy_id: string | null
  recipient_policy_id: string | null
  mint_recipient_policy_id: string | null
  t: number
}

/** The raw facts behind risk and reserves, in chain order; `t` is the block's time. */
export type SnapshotFacts = {
  start: number
  stables: { stable: string; symbol: string; t: number }[]
  samples: Map<string, Sample[]>
  states: Map<string, State[]>
  policyEvents: PolicyEvent[]
}

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
    samples: byStable(await rows<Sample>('peg_samples')),
    states: byStable(await rows<State>('state_reads')),
    policyEvents: await rows('policy_events'),
  }
}
