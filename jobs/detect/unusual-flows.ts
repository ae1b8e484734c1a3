import type { ClickHouseClient } from '@clickhouse/client'
import { unusualFlowEvents } from '../../clickhouse/events/types.js'
import { edgeScores } from '../../clickhouse/flows/edge-scores.js'
import { edgeWindows } from '../../clickhouse/flows/edge-windows.js'
import type { Slot } from '../schedule/run-slots.js'
import { announceFound } from './announce.js'
import { windowOf } from './flow-anomalies.js'

/**
 * Announces the edges that are unusual by the rule `robust` in the 15-minute window that ends at a slot, each once, and retracts
 * those that were announced of it and are not any more. Resolves to their number. Repeating it changes nothing.
 */
export async function detectUnusualFlows(clickhouse: ClickHouseClient, slot: Slot): Promise<number> {
  const { at, read_since, revision } = slot
  const window_start = windowOf(slot)
  const scores = edgeScores(await edgeWindows(clickhouse, { window_start, read_since }), window_start)
  const found = unusualFlowEvents(scores, window_start)
  await announceFound(clickhouse, [{ found, after: window_start, at }], ['unusual_flow.detected'], { revision })
  return found.length
}
