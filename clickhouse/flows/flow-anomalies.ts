import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import type { FlowScore } from './flow-z-scores.js'

/** What a slot says of one edge and window, which begins at `window_start` in unix seconds. */
type FlowAnomalyRow = FlowScore & { window_start: number; revision: number; is_deleted: 0 | 1 }

/** Writes what a slot has found; a row replaces that of the same edge and window under an older revision. */
export function insertFlowAnomalies(
  clickhouse: ClickHouseClient,
  rows: readonly FlowAnomalyRow[],
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'flow_anomalies', rows, token)
}
