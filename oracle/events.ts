import type { OracleAnomaly } from './flow-anomalies.js'
import {
  type BreakFilter,
  type OracleEvent as OracleBreak,
  type OracleDepth,
  type OracleSample,
  passesFilter,
  standingOf,
  thinOf,
} from './peg-events.js'
import { iso } from './rows.js'

/** What an event says, apart from its place in the log. */
export type OracleEvent = { event: string; occurred_at: string; data: Record<string, unknown> }

/** An event of the log as the API returns it. */
type LogEvent = OracleEvent & { id: string; sequence: number }

const SLOT = 120
const TRACKS = [
  { severity: 'mild', micros: 1000, seconds: 300 },
  { severity: 'severe', micros: 5000, seconds: 60 },
] as const

const distanceOf = ({ sell_micros }: OracleSample): number => Math.abs((sell_micros as number) - 1_000_000)

/** The samples of a stable, split into excursions: each begins outside, and the last sample inside ends it, if any. */
function excursionsOf(samples: readonly OracleSample[], micros: number): OracleSample[][] {
  const excursions: OracleSample[][] = []
  let current: OracleSample[] = []
  for (const sample of samples) {
    if (sample.sell_micros === null) continue
    const isOutside = distanceOf(sample) > micros
    if (isOutside || current.length > 0) current.push(sample)
    if (isOutside || current.length === 0) continue
    excursions.push(current)
    current = []
  }
  return current.length > 0 ? [...excursions, current] : excursions
}

/**
 * The events about a stable's peg breaks until `until`, the end of a slot, in no order. A break is announced in the slot in
 * which it has lasted the minimum, with the largest deviation up to the end of that slot.
 */
export function pegBreakEvents(
  stable: string,
  samples: readonly OracleSample[],
  depth: readonly OracleDepth[],
  until: number,
): OracleEvent[] {
  const samplesUntil = samples.filter(({ block_time }) => block_time <= until)
  return TRACKS.flatMap(({ severity, micros, seconds }) =>
    excursionsOf(samplesUntil, micros).flatMap((excursion) => {
      const start = excursion[0] as OracleSample
      const confirmed = excursion.find(({ block_time }) => block_time >= start.block_time + seconds)
      if (!confirmed) return []
      const last = excursion.at(-1) as OracleSample
      const end = distanceOf(last) > micros ? null : last
      const standing_tokens = standingOf({ start, confirmed_at: confirmed.block_time, end, bps: micros / 100 }, depth)
      const dataUntil = (at: number) => ({
        stable,
        severity,
        direction: (start.sell_micros as number) < 1_000_000 ? 'below' : 'above',
        started_at: iso(start.block_time),
        started_block: start.block_number,
        max_deviation_bps:
          Math.max(...excursion.filter(({ block_time }) => block_time <= at).map((sample) => distanceOf(sample))) / 100,
        ...(standing_tokens !== null && { standing_tokens, thin: thinOf(standing_tokens) }),
      })
      const slot = Math.ceil(confirmed.block_time / SLOT) * SLOT
      const started = { event: 'peg_break.started', occurred_at: iso(confirmed.block_time), data: dataUntil(slot) }
      if (!end) return [started]
      const data = {
        ...dataUntil(end.block_time),
        ended_at: iso(end.block_time),
        ended_block: end.block_number,
        duration_seconds: end.block_time - start.block_time,
      }
      return [started, { event: 'peg_break.ended', occurred_at: iso(end.block_time), data }]
    }),
  )
}

/** Whether an event passes a filter of breaks, by what it reports of the break, which has lasted until it occurred. */
export function passesBreakFilter({ event, occurred_at, data }: OracleEvent, filter: BreakFilter): boolean {
  const { severity, max_deviation_bps, started_at, standing_tokens = null } = data as OracleBreak
  const duration_seconds = (Date.parse(occurred_at) - Date.parse(started_at)) / 1000
  return (
    !event.includes('_break') ||
    passesFilter({ severity, max_deviation_bps, duration_seconds, standing_tokens }, filter)
  )
}

/** The event about an anomaly. */
export const anomalyEvent = (anomaly: OracleAnomaly): OracleEvent => ({
  event: 'flow_anomaly.detected',
  occurred_at: anomaly.window_end,
  data: anomaly,
})

const keyOf = ({ event, occurred_at, data }: OracleEvent): string =>
  [occurred_at, event, data.stable ?? data.from_token, data.severity ?? data.to_token, data.started_at ?? ''].join(' ')

/** Events in an order that does not depend on when they were recorded. */
export const inOrder = (events: readonly OracleEvent[]): OracleEvent[] =>
  events.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

/**
 * The events, each with the `standing_tokens` and `thin` of the expected event about the same break if it has none: a backfill
 * may add the depth that was missing when a break was announced, and does not announce it again.
 */
export function withStanding(events: readonly OracleEvent[], expected: readonly OracleEvent[]): OracleEvent[] {
  const expectedData = new Map(expected.map((event) => [keyOf(event), event.data]))
  return events.map((event) => {
    const { standing_tokens, thin } = expectedData.get(keyOf(event)) ?? {}
    return { ...event, data: { ...(standing_tokens !== undefined && { standing_tokens, thin }), ...event.data } }
  })
}

/**
 * What of the log stands, after all its retractions; and what is wrong with its order: each event has a greater number than
 * the one before, and a retraction takes back one earlier event that was not taken back yet.
 */
export function standing(log: readonly LogEvent[]): { events: OracleEvent[]; faults: string[] } {
  const events = new Map<string, LogEvent>()
  const faults: string[] = []
  let last = 0
  for (const event of log) {
    if (event.sequence <= last) faults.push(`${event.sequence} after ${last}`)
    last = event.sequence
    if (event.event !== 'event.retracted') events.set(event.id, event)
    else if (!events.delete(`${event.data.retracts}`)) faults.push(`${event.sequence} retracts nothing`)
  }
  return { events: [...events.values()], faults }
}
