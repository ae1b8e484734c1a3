import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { announce } from '../../jobs/detect/announce.js'
import { type OracleDepth, type OracleEvent, type OracleSample, pegEventsOracle } from '../../oracle/peg-events.js'

/** A stored row of the event log. */
export type StoredEvent = {
  sequence: number
  id: string
  type: string
  stables: string[]
  slot_at: number
  occurred_at: number
  recorded_at: Date
  revision: number
  data: Record<string, unknown>
}

/** The whole log in order. Fails unless every number and every id occurs exactly once. */
export async function storedEvents(clickhouse: ClickHouseClient): Promise<StoredEvent[]> {
  const result = await clickhouse.query({
    query: `
      SELECT toUInt32(sequence_number) AS sequence, id, type, stables, toUnixTimestamp(slot_at) AS slot_at,
             toUnixTimestamp(occurred_at) AS occurred_at, revision, data,
             toUnixTimestamp64Milli(recorded_at)::Float64 AS recorded_ms
      FROM events ORDER BY sequence_number`,
    format: 'JSONEachRow',
  })
  const rows = await result.json<Omit<StoredEvent, 'data' | 'recorded_at'> & { data: string; recorded_ms: number }>()
  const events = rows.map(({ recorded_ms, ...row }) => ({
    ...row,
    recorded_at: new Date(recorded_ms),
    data: JSON.parse(row.data) as Record<string, unknown>,
  }))
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(events.length)
  return events
}

/** The announced events that were not taken back. Fails if one was taken back twice. */
export function standing(events: readonly StoredEvent[]): StoredEvent[] {
  const taken = events.filter(({ type }) => type === 'event.retracted').map(({ data }) => data.retracts)
  expect(new Set(taken).size).toBe(taken.length)
  return events.filter(({ id, type }) => type !== 'event.retracted' && !taken.includes(id))
}

/** A fictitious event. */
export const madeUpEvent = (i: number, changes: Partial<FoundEvent> = {}): FoundEvent => ({
  id: `evt_${i.toString(16).padStart(32, '0')}`,
  type: 'peg_break.started',
  subject: `${i}`,
  stables: [],
  occurred_at: new Date(1_760_000_000_000 + i * 1000),
  data: { made_up: i },
  ...changes,
})

/** What an anomaly of an edge has besides its window and its distance: made up. */
export const SURGE = {
  kind: 'surge' as const,
  active_mean_usd: 1000,
  active_stddev_usd: 100,
  silent_windows: null,
  longest_silence_windows: null,
  silence_probability: null,
  observed_flow_usd: 2000,
  baseline_mean_usd: 1000,
  baseline_stddev_usd: 100,
  tx_count: 3,
  baseline_windows: 672,
  observations: 20,
}

/** Appends events to the log as a detector does. */
export const addEvents = (clickhouse: ClickHouseClient, events: readonly FoundEvent[]): Promise<void> =>
  announce(clickhouse, events, { at: new Date(1_760_000_000_000), revision: 0 })

type ExpectedEvent = { type: string; data: Record<string, unknown> }

const SLOT_SECONDS = 120

/** What an event says of a break: without what was not measured. */
const saidOf = ({ standing_tokens, thin, ongoing: _, ...data }: OracleEvent) =>
  standing_tokens === null ? data : { ...data, standing_tokens, thin }

/**
 * The expected events of a market's peg breaks when all slots up to `horizon` are done: for each break its start, as known at
 * the first slot that detects it, and its end. In no particular order.
 */
export function expectedBreaks(
  samples: readonly (OracleSample & { stable: string })[],
  horizon: number,
  depths: readonly (OracleDepth & { stable: string })[] = [],
) {
  const expected: ExpectedEvent[] = []
  for (const stable of new Set(samples.map((sample) => sample.stable))) {
    const own = samples.filter((sample) => sample.stable === stable)
    const depth = depths.filter((sample) => sample.stable === stable)
    const started = new Map<string, ExpectedEvent>()
    for (let at = Math.ceil((own[0]?.block_time ?? 0) / SLOT_SECONDS) * SLOT_SECONDS; at <= horizon; at += SLOT_SECONDS)
      for (const found of pegEventsOracle(own, at, depth)) {
        const { ended_at, ended_block, duration_seconds, ...data } = saidOf(found)
        const key = `${found.severity} ${found.started_block}`
        if (!started.has(key)) started.set(key, { type: 'peg_break.started', data: { stable, ...data } })
      }
    expected.push(...started.values())
    for (const found of pegEventsOracle(own, horizon, depth))
      if (!found.ongoing) expected.push({ type: 'peg_break.ended', data: { stable, ...saidOf(found) } })
  }
  return expected
}

/** Sorts events in an order that does not depend on when they were detected. */
export const inOrder = (events: readonly ExpectedEvent[]): ExpectedEvent[] =>
  events.map(({ type, data }) => ({ type, data })).sort((a, b) => orderOf(a).localeCompare(orderOf(b)))

const orderOf = ({ type, data }: ExpectedEvent): string =>
  JSON.stringify([
    type,
    data.stable ?? data.from_token,
    data.to_token,
    data.severity,
    data.started_block ?? data.window_start,
  ])
