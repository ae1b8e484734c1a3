import type { ClickHouseClient } from '@clickhouse/client'
import { flowAnomalyEvent } from '../../clickhouse/events/types.js'
import {
  anomaliesOfWindow,
  type FlowScore,
  flowZScores,
  insertFlowAnomalies,
  outdatedAnomalies,
  publishedAnomaly,
} from '../../clickhouse/flows/anomalies.js'
import { FLOW_WINDOW_SECONDS } from '../../clickhouse/flows/buckets.js'
import type { Slot } from '../schedule/run-slots.js'
import { announce } from './announce.js'

/** A window is an anomaly from three standard deviations on, in either direction. */
const MIN_ABS_Z = 3

/** What takes an anomaly back: there is nothing to say of the window any more. */
const NO_SCORE: Omit<FlowScore, 'from_token' | 'to_token'> = {
  observed_micros: '0',
  tx_count: 0,
  bucket_count: 0,
  observation_count: 0,
  baseline_sum: '0',
  baseline_square_sum: '0',
}

/**
 * Scores the window of 15 minutes that ends with the slot, on every edge, and resolves to how many anomalies there are.
 * What a slot of an older revision had found there, and is none after blocks were reorganized, is taken back. Anomalies
 * are announced, each once; one that is taken back stays announced. Repeating a slot changes nothing.
 */
export async function detectFlowAnomalies(clickhouse: ClickHouseClient, slot: Slot): Promise<number> {
  const window_start = new Date(slot.at.getTime() - FLOW_WINDOW_SECONDS * 1000)
  const found = await flowZScores(clickhouse, { window_start, min_abs_z: MIN_ABS_Z })
  const edges = new Set(found.map(edgeOf))
  const outdated = await outdatedAnomalies(clickhouse, { window_start, revision: slot.revision })
  const taken = outdated.filter((edge) => !edges.has(edgeOf(edge))).map((edge) => ({ ...NO_SCORE, ...edge }))
  const row = { window_start: window_start.getTime() / 1000, revision: slot.revision }
  await insertFlowAnomalies(
    clickhouse,
    [
      ...found.map((score) => ({ ...row, ...score, is_deleted: 0 as const })),
      ...taken.map((score) => ({ ...row, ...score, is_deleted: 1 as const })),
    ],
    slot.token,
  )
  if (found.length === 0) return 0
  // As they are stored, so that an event has the digits that the list of anomalies has.
  const anomalies = await anomaliesOfWindow(clickhouse, { window_start })
  await announce(
    clickhouse,
    anomalies.map((anomaly) => flowAnomalyEvent(publishedAnomaly(anomaly))),
    slot,
  )
  return found.length
}

const edgeOf = ({ from_token, to_token }: Pick<FlowScore, 'from_token' | 'to_token'>): string => from_token + to_token
