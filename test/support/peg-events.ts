import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { detectPegEvents } from '../../jobs/detect/peg-events.js'
import { PegEventsSpec } from './spec/peg-events.js'

/** The detector's job. */
export const PEG_EVENTS_JOB = {
  job: 'peg-events',
  periodSeconds: PERIOD_SECONDS['peg-events'],
  task: detectPegEvents,
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

/** All rows that the detector has written, without their revision. */
export async function storedExcursions(clickhouse: ClickHouseClient): Promise<unknown[]> {
  const result = await clickhouse.query({
    query: 'SELECT * EXCEPT revision FROM peg_events FINAL ORDER BY stable, severity, started_at, started_block',
    format: 'JSONEachRow',
  })
  return result.json()
}
