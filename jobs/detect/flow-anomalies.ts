import type { ClickHouseClient } from '@clickhouse/client'
import { flowAnomalyEvent } from '../../clickhouse/events/types.js'
import { anomaliesOfWindows, insertFlowAnomalies, outdatedAnomalies } from '../../clickhouse/flows/anomalies.js'
import { FLOW_WINDOW_SECONDS } from '../../clickhouse/flows/buckets.js'
import { type FlowScore, flowZScores, flowZScoresOfRange, MIN_ABS_Z } from '../../clickhouse/flows/scores.js'
import { WEEK_SECONDS } from '../../process/instants.js'
import type { PassTask, Slot, Slots } from '../schedule/run-slots.js'
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

/** The start of the window that ends at a slot. */
export const windowOf = ({ at }: Pick<Slot, 'at'>): Date => new Date(at.getTime() - FLOW_WINDOW_SECONDS * 1000)

type OfWindow = { window_start: Date }

/** What belongs to the window that ends at each slot, in the order of the slots. */
function byWindow<Row extends OfWindow>(slots: Slots, rows: readonly Row[]): Row[][] {
  const lists = new Map(slots.map((slot) => [windowOf(slot).getTime(), [] as Row[]]))
  for (const row of rows) lists.get(row.window_start.getTime())?.push(row)
  return [...lists.values()]
}

/**
 * Scores the 15-minute windows that end at consecutive slots on every edge, in one pass, and resolves to the number of
 * anomalies in each. A window's result does not depend on those of others. Deletes anomalies that an older revision of a slot
 * found and that no longer exist, and retracts their announcements. Announces each anomaly once. Repeating slots, also with
 * others before or after them, changes nothing.
 */
export async function detectFlowAnomalies(clickhouse: ClickHouseClient, slots: Slots): Promise<number[]> {
  const [{ read_since, revision, ...slot }] = slots
  const range = { first: windowOf(slots[0]), last: windowOf(slots.at(-1) ?? slots[0]) }
  const scores =
    slots.length === 1
      ? await flowZScores(clickhouse, { window_start: range.first, min_abs_z: MIN_ABS_Z, read_since })
      : await flowZScoresOfRange(clickhouse, { ...range, min_abs_z: MIN_ABS_Z, read_since })
  const outdated = await outdatedAnomalies(clickhouse, { ...range, revision })
  const keys = new Set(scores.map(keyOf))
  const retracted = outdated
    .filter((anomaly) => !keys.has(keyOf(anomaly)))
    .map((anomaly) => ({ ...NO_SCORE, ...anomaly }))
  const rowOf = <Score extends FlowScore & OfWindow>(score: Score, is_deleted: 0 | 1) => ({
    ...score,
    window_start: score.window_start.getTime() / 1000,
    revision,
    is_deleted,
  })
  await insertFlowAnomalies(
    clickhouse,
    [...scores.map((score) => rowOf(score, 0)), ...retracted.map((score) => rowOf(score, 1))],
    slots.length === 1 ? slot.token : `${slot.token}:${slots.length}`,
  )
  // Read back as stored, so that an event has the same digits as the list of anomalies.
  const anomalies = byWindow(slots, scores.length > 0 ? await anomaliesOfWindows(clickhouse, range) : [])
  const ofSlots = slots.map((slot, i) => ({
    found: (anomalies[i] ?? []).map(flowAnomalyEvent),
    after: windowOf(slot),
    at: slot.at,
  }))
  await announceFound(clickhouse, ofSlots, ['flow_anomaly.detected'], { revision })
  return byWindow(slots, scores).map(({ length }) => length)
}

/** The task of the job. However few windows a pass has, it reads the two weeks before them. */
export const FLOW_ANOMALIES_TASK: PassTask = {
  pass: detectFlowAnomalies,
  firstSlots: WEEK_SECONDS / FLOW_WINDOW_SECONDS,
}

const keyOf = ({ window_start, from_token, to_token }: OfWindow & Pick<FlowScore, 'from_token' | 'to_token'>): string =>
  `${window_start.getTime()} ${from_token} ${to_token}`
