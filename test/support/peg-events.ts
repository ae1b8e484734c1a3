import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { detectPegEvents } from '../../jobs/detect/peg-events.js'
import type { OracleDepth } from '../../oracle/peg-tracks.js'
import { alone } from './slots.js'
import { PegEventsSpec } from './spec/peg-events.js'

/** The detector's job. */
export const PEG_EVENTS_JOB = {
  job: 'peg-events',
  periodSeconds: PERIOD_SECONDS['peg-events'],
  pass: detectPegEvents,
  task: alone(detectPegEvents),
}

type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => never }> }

/** A stable's events from the API, checked against the specification. */
export async function eventsOf(app: App, stable: string, query = '') {
  const response = await app.inject(`/api/v1/stablecoins/${stable}/peg-events${query}`)
  expect(response.statusCode, JSON.stringify(response.json())).toBe(200)
  const { events, address } = PegEventsSpec.parse(response.json())
  expect(address).toBe(stable)
  return events
}

/**
 * The events of a kind that are expected in an answer, with the time at which each was published: that of the newest announcement
 * about it that was not taken back, null if there is none.
 */
export async function withPublication<Event extends { severity: string; started_block: number }>(
  clickhouse: ClickHouseClient,
  kind = 'peg_break.',
): Promise<(stable: string, events: readonly Event[]) => Array<Event & { published_at: string | null }>> {
  const result = await clickhouse.query({
    query: 'SELECT id, type, data, toUnixTimestamp64Milli(recorded_at) AS recorded_ms FROM events',
    format: 'JSONEachRow',
  })
  const rows = await result.json<{ id: string; type: string; data: string; recorded_ms: string }>()
  const log = rows.map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) as Record<string, unknown> }))
  const retracted = new Set(log.flatMap((event) => (event.type === 'event.retracted' ? [event.data.retracts] : [])))
  const newest = new Map<string, number>()
  for (const { id, type, data, recorded_ms } of log) {
    if (!type.startsWith(kind) || retracted.has(id)) continue
    const key = `${data.stable} ${data.severity} ${data.started_block}`
    newest.set(key, Math.max(newest.get(key) ?? 0, Number(recorded_ms)))
  }
  return (stable, events) =>
    events.map((event) => {
      const ms = newest.get(`${stable} ${event.severity} ${event.started_block}`)
      return { ...event, published_at: ms === undefined ? null : new Date(ms).toISOString() }
    })
}

/** The depth samples that are stored, in order of their blocks. */
export async function storedDepths(clickhouse: ClickHouseClient): Promise<(OracleDepth & { stable: string })[]> {
  const result = await clickhouse.query({
    query: `
      SELECT stable, size_tokens, toUnixTimestamp(block_time) AS block_time, toUInt32(block_number) AS block_number,
             sell_status, toString(sell_raw) AS sell_raw, toString(buy_raw) AS buy_raw
      FROM depth_samples ORDER BY depth_samples.block_number`,
    format: 'JSONEachRow',
  })
  return result.json()
}

/** All rows that the detector has written, without their revision. */
export async function storedExcursions(clickhouse: ClickHouseClient): Promise<unknown[]> {
  const result = await clickhouse.query({
    query:
      "SELECT * EXCEPT revision FROM peg_breaks FINAL WHERE track = 'published' ORDER BY stable, severity, started_at, started_block",
    format: 'JSONEachRow',
  })
  return result.json()
}
