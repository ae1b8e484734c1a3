import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isoSeconds } from '../../process/instants.js'
import { type FlowAnomaly, publishedAnomaly } from '../flows/anomalies.js'
import { type EdgeScore, publishedUnusual } from '../flows/edge-scores.js'
import type { ComponentHealth } from '../jobs/health.js'
import type { QuoteLoss } from '../peg/agreed/tracks.js'
import type { Track } from '../peg/break-filter.js'
import type { ExcursionKey, PegExcursion } from '../peg/excursions.js'
import type { QuoteStatus } from '../peg/price.js'
import { isThin } from '../peg/standing.js'
import { dateTime } from '../store/values.js'

/** Every type of event that subscribers can receive. */
export const EVENT_TYPES = [
  'peg_break.started',
  'peg_break.ended',
  'agreed_break.started',
  'agreed_break.ended',
  'peg_quote.lost',
  'peg_quote.back',
  'flow_anomaly.detected',
  'unusual_flow.detected',
  'system.health_drift',
  'event.retracted',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** An event as a detector finds it, before it has a position in the log. */
export type FoundEvent = {
  id: string
  type: EventType
  /** Machine-readable key of what the event is about. */
  subject: string
  /** The stables concerned, in lower case; empty if the event is about the service itself. */
  stables: string[]
  occurred_at: Date
  data: Record<string, unknown>
  /** Of a retraction: the type of the event that it takes back. */
  retracted_type?: EventType
}

/** An event as it is published: in lists, on the stream and, with a delivery's id, in webhooks. */
export type PublishedEvent = {
  id: string
  /** Its position in the log, from which a reader can continue. */
  sequence: number
  event: EventType
  occurred_at: string
  recorded_at: string
  /** Equals `recorded_at`: an event is published when it is recorded. */
  published_at: string
  data: Record<string, unknown>
}

/** An event of the log, as much of it as every reader needs. */
export const RecordedEvent = z.object({
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  stables: z.array(z.string()),
  occurred_at: dateTime,
  recorded_at: dateTime,
  data: z.string().transform((text) => JSON.parse(text) as Record<string, unknown>),
})
type RecordedEvent = z.infer<typeof RecordedEvent>

/** An event of the log as it is published. */
export function publishedEvent(event: RecordedEvent & { sequence: number }): PublishedEvent {
  const { id, sequence, type, occurred_at, recorded_at, data } = event
  return {
    id,
    sequence,
    event: type,
    occurred_at: isoSeconds(occurred_at),
    recorded_at: recorded_at.toISOString(),
    published_at: recorded_at.toISOString(),
    data,
  }
}

/** The id is derived from what the event is about, so that finding the same event again gives the same id. */
function foundEvent(
  type: EventType,
  subject: string,
  stables: string[],
  occurred_at: Date,
  data: FoundEvent['data'],
  occasion = '',
): FoundEvent {
  const hash = createHash('sha256').update(JSON.stringify([type, subject, occasion]))
  return { id: `evt_${hash.digest('hex').slice(0, 32)}`, type, subject, stables, occurred_at, data }
}

/** Why an event was taken back: it is not found any more, or it is found with other data, which a new event has. */
export type RetractionReason = 'not_found' | 'changed'

/** The event that takes back an announced one. An event is taken back once: the id depends on it alone. */
export function retractionOf(event: RecordedEvent, reason: RetractionReason): FoundEvent {
  const { id, type, stables, occurred_at, recorded_at, data } = event
  const original = { retracts: id, retracted_event: type, occurred_at: isoSeconds(occurred_at) }
  return {
    ...foundEvent('event.retracted', id, stables, occurred_at, {
      ...original,
      recorded_at: recorded_at.toISOString(),
      reason,
      stables,
      original: data,
    }),
    retracted_type: type,
  }
}

/** An event to be announced again after the retraction with this id. */
export const announcedAgain = ({ type, subject, stables, occurred_at, data }: FoundEvent, retraction: string) =>
  foundEvent(type, subject, stables, occurred_at, data, retraction)

/** Unix seconds as ISO 8601. */
const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))

/** What the types of the events about breaks of a track begin with. */
export const BREAK_KINDS = { published: 'peg_break', agreed: 'agreed_break' } as const satisfies Record<Track, string>

/** The subject of the events about a break of a track. */
export const breakSubject = (track: Track, { stable, severity, started_at, started_block }: ExcursionKey): string =>
  `${stable}:${severity}:${started_at}:${started_block}${track === 'agreed' ? ':agreed' : ''}`

function startData({
  stable,
  severity,
  direction,
  started_at,
  started_block,
  max_deviation_micros,
  standing_tokens,
}: PegExcursion) {
  const max_deviation_bps = max_deviation_micros / 100
  return {
    stable,
    severity,
    direction,
    started_at: iso(started_at),
    max_deviation_bps,
    started_block,
    ...(standing_tokens !== null && { standing_tokens, thin: isThin(standing_tokens) }),
  }
}

/**
 * The events about a break of a track that the slot with the time (`after`, `at`] announces: its start, once it has lasted the
 * minimum, and its end. Times in unix seconds.
 */
export function breakEvents(track: Track, excursion: PegExcursion, span: { after: number; at: number }): FoundEvent[] {
  const { confirmed_at } = excursion
  if (confirmed_at === null) return []
  const kind = BREAK_KINDS[track]
  const lasting = { ...excursion, confirmed_at }
  const subject = breakSubject(track, excursion)
  return startAndEnd([`${kind}.started`, `${kind}.ended`], subject, lasting, startData(excursion), span)
}

/**
 * The events about what lasts from one sample to another that the slot with the time (`after`, `at`] announces: its start, once
 * it has lasted the minimum, and its end.
 */
function startAndEnd(
  [started, ended]: readonly [EventType, EventType],
  subject: string,
  lasting: {
    stable: string
    started_at: number
    confirmed_at: number
    ended_at: number | null
    ended_block: number | null
  },
  start: FoundEvent['data'],
  { after, at }: { after: number; at: number },
): FoundEvent[] {
  const { stable, started_at, confirmed_at, ended_at, ended_block } = lasting
  const isWithin = (time: number): boolean => time > after && time <= at
  const events: FoundEvent[] = []
  if (isWithin(confirmed_at)) events.push(foundEvent(started, subject, [stable], new Date(confirmed_at * 1000), start))
  if (ended_at !== null && isWithin(ended_at)) {
    const end = { ended_at: iso(ended_at), ended_block, duration_seconds: ended_at - started_at }
    events.push(foundEvent(ended, subject, [stable], new Date(ended_at * 1000), { ...start, ...end }))
  }
  return events
}

/**
 * The events about a lost quote that the slot with the time (`after`, `at`] announces. `status` says why there is none in
 * the first block without it.
 */
export function quoteLossEvents(
  loss: QuoteLoss & { status: QuoteStatus },
  span: { after: number; at: number },
): FoundEvent[] {
  const { stable, status, started_at, started_block } = loss
  const start = { stable, status, started_at: iso(started_at), started_block }
  const subject = `${stable}:quote:${started_at}:${started_block}`
  return startAndEnd(['peg_quote.lost', 'peg_quote.back'], subject, loss, start, span)
}

/** The event that more or less than usual flowed between two stables, by the rule `z`; announced once per edge and window. */
export function flowAnomalyEvent(anomaly: FlowAnomaly): FoundEvent {
  const { from_token, to_token } = anomaly
  const data = publishedAnomaly(anomaly)
  const stables = [from_token, to_token]
  return foundEvent('flow_anomaly.detected', anomalySubject(anomaly), stables, new Date(data.window_end), data)
}

/** The events about the edges of a window that are unusual by the rule `robust`; each announced once per edge and window. */
export const unusualFlowEvents = (scores: readonly EdgeScore[], window_start: Date): FoundEvent[] =>
  scores.flatMap((score) => {
    const { unusual, from_address: from_token, to_address: to_token } = score
    if (unusual === null) return []
    const data = publishedUnusual({ ...score, unusual }, window_start)
    const subject = unusualSubject({ from_token, to_token, window_start })
    return [foundEvent('unusual_flow.detected', subject, [from_token, to_token], new Date(data.window_end), data)]
  })

/**
 * The event that a component of the service changed its state. `previous` is the id of the event that announced the
 * state before, empty if there was none. So each change has its own id, even if a state recurs.
 */
export function healthDriftEvent(health: ComponentHealth, detectedAt: Date, previous: string): FoundEvent {
  const data = { ...health, detected_at: isoSeconds(detectedAt) }
  return foundEvent('system.health_drift', health.component, [], detectedAt, data, `${previous}:${health.status}`)
}

/** The subject of the event about an anomaly. */
export const anomalySubject = ({
  from_token,
  to_token,
  window_start,
}: Pick<FlowAnomaly, 'from_token' | 'to_token' | 'window_start'>): string =>
  `${from_token}:${to_token}:${window_start.getTime() / 1000}`

/** The subject of the event that the rule `robust` found an edge unusual in the window of an anomaly. */
export const unusualSubject = (window: Parameters<typeof anomalySubject>[0]): string =>
  `${anomalySubject(window)}:robust`
