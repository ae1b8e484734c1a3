import type { ClickHouseClient } from '@clickhouse/client'
import { flowAnomalyEvent } from '../../clickhouse/events/types.js'
import {
  anomaliesOfWindow,
  insertFlowAnomalies,
  outdatedAnomalies,
  publishedAnomaly,
} from '../../clickhouse/flows/anomalies.js'
import { FLOW_WINDOW_SECONDS } from '../../clickhouse/flows/buckets.js'
import { type FlowScore, flowZScores, MIN_ABS_Z } from '../../clickhouse/flows/scores.js'
import type { Slot } from '../schedule/run-slots.js'
import { announceFound } from './announce.js'

/** The figures of a retracted anomaly. */
const NO_SCORE: Omit<FlowScore, 'from_token' | 'to_token'> = {
  kind: 'drop',
  observed_micros: '0',
  tx_count: 0,
  bucket_count: 0,
  observation_count: 0,
  baseline_sum: '0',
  baseline_square_sum: '0',
  silent_windows: 0,
  longest_silence: 0,
  usual_windows: 0,
  usual_active: 0,
}

/**
 * Scores the 15-minute window that ends at the slot on every edge and resolves to the number of anomalies. Deletes
 * anomalies that an older revision of the slot found and that no longer exist, and retracts their announcements.
 * Announces each anomaly once. Repeating a slot changes nothing.
 */
export async function detectFlowAnomalies(clickhouse: ClickHouseClient, slot: Slot): Promise<number> {
  const window_start = new Date(slot.at.getTime() - FLOW_WINDOW_SECONDS * 1000)
  const found = await flowZScores(clickhouse, {
    window_start,
    min_abs_z: MIN_ABS_Z,
    read_since: slot.read_since,
  })
  const edges = new Set(found.map(edgeOf))
  const outdated = await outdatedAnomalies(clickhouse, { window_start, revision: slot.revision })
  const retracted = outdated.filter((edge) => !edges.has(edgeOf(edge))).map((edge) => ({ ...NO_SCORE, ...edge }))
  const row = { window_start: window_start.getTime() / 1000, revision: slot.revision }
  await insertFlowAnomalies(
    clickhouse,
    [
      ...found.map((score) => ({ ...row, ...score, is_deleted: 0 as const })),
      ...retracted.map((score) => ({ ...row, ...score, is_deleted: 1 as const })),
    ],
    slot.token,
  )
  // Read back as stored, so that an event has the same digits as the list of anomalies.
  const anomalies = found.length > 0 ? await anomaliesOfWindow(clickhouse, { window_start }) : []
  const events = anomalies.map((anomaly) => flowAnomalyEvent(publishedAnomaly(anomaly)))
  const ofSlot = { found: events, after: window_start, at: slot.at }
  await announceFound(clickhouse, [ofSlot], ['flow_anomaly.detected'], slot)
  return found.length
}

const edgeOf = ({ from_token, to_token }: Pick<FlowScore, 'from_token' | 'to_token'>): string => from_token + to_token
