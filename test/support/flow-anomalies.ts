import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { detectFlowAnomalies } from '../../jobs/detect/flow-anomalies.js'
import type { OracleAnomaly } from '../../oracle/flow-anomalies.js'
import type { OracleFlow } from '../../oracle/flows.js'
import { alone } from './slots.js'
import { FlowAnomaliesSpec } from './spec/flows.js'

/** The detector's job. */
export const FLOW_ANOMALIES_JOB = {
  job: 'flow-anomalies',
  periodSeconds: PERIOD_SECONDS['flow-anomalies'],
  pass: detectFlowAnomalies,
  task: alone(detectFlowAnomalies),
}

type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => unknown }> }

/** All anomalies that the API lists, read page by page and checked against the specification. */
export async function anomaliesOf(app: App, query: Record<string, string | number> = {}) {
  const found = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const parameters = new URLSearchParams({ limit: '500', ...query, ...(cursor && { cursor }) })
    const response = await app.inject(`/api/v1/stablecoins/flow-anomalies?${parameters}`)
    expect(response.statusCode, JSON.stringify(response.json())).toBe(200)
    const page = FlowAnomaliesSpec.parse(response.json())
    found.push(...page.anomalies)
    cursor = page.next_cursor
  }
  return found
}

/** Expects the same anomalies in the same order, with floats equal to a relative 1e-9. */
export function expectAnomalies(
  found: readonly OracleAnomaly[],
  expected: readonly OracleAnomaly[],
  message: string,
): void {
  expect(
    found.map(({ from_token, to_token, window_start }) => [from_token, to_token, window_start]),
    message,
  ).toEqual(expected.map(({ from_token, to_token, window_start }) => [from_token, to_token, window_start]))
  for (const [i, want] of expected.entries()) {
    const { baseline_mean_usd, baseline_stddev_usd, active_mean_usd, active_stddev_usd, z_score, ...exact } = want
    const floats = { baseline_mean_usd, baseline_stddev_usd, active_mean_usd, active_stddev_usd, z_score }
    expect(found[i], message).toMatchObject(exact)
    for (const [name, value] of Object.entries(floats)) {
      const got = found[i]?.[name as 'z_score'] ?? Number.NaN
      expect(Math.abs(got - value), `${message}: ${name} ${got}, not ${value}`).toBeLessThanOrEqual(
        1e-9 * Math.abs(value),
      )
    }
  }
}

/** All stored flows. */
export async function storedFlows(clickhouse: ClickHouseClient): Promise<OracleFlow[]> {
  const result = await clickhouse.query({
    query: `SELECT kind, from_token, to_token, toString(amount_in_raw) AS amount_in_raw, toString(amount_out_raw) AS amount_out_raw, usd_micros,
              toUnixTimestamp(block_time) AS block_time, tx_hash FROM flows`,
    format: 'JSONEachRow',
  })
  return result.json<OracleFlow>()
}
