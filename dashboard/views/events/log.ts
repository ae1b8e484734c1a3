/** An event of the log, or of the stream. `data` depends on its type. */
export type LogEvent = { event: string; id: string; sequence: number; occurred_at: string; data: EventData }

export type EventData = Partial<{
  stable: string
  severity: string
  started_at: string
  max_deviation_bps: number
  thin: boolean
  duration_seconds: number
  from_token: string
  to_token: string
  kind: string
  observed_flow_usd: number
  baseline_mean_usd: number
  tx_count: number
  z_score: number
  component: string
  status: string
  lag_blocks: number | null
  lag_seconds: number | null
  retracts: string
  retracted_event: string
  reason: string
  original: EventData
}>

/** What the filter calls the types, and the types. */
export const KINDS = {
  breaks: ['peg_break.started', 'peg_break.ended'],
  agreed: ['agreed_break.started', 'agreed_break.ended'],
  quotes: ['peg_quote.lost', 'peg_quote.back'],
  flows: ['flow_anomaly.detected'],
  unusual: ['unusual_flow.detected'],
  service: ['system.health_drift'],
} as const
export type Kind = keyof typeof KINDS

export const kindOf = (text: string | undefined): Kind | null => (text && text in KINDS ? (text as Kind) : null)

/** The stables that an event is about. */
const stablesOf = ({ stable, from_token, to_token, original }: EventData): (string | undefined)[] =>
  original ? stablesOf(original) : [stable, from_token, to_token]

/** Whether an event is of a kind and about a stable; a retraction is what it takes back. */
export function isShown({ event, data }: LogEvent, kind: Kind | null, stable: string | null): boolean {
  const type = event === 'event.retracted' ? (data.retracted_event ?? '') : event
  if (kind !== null && !(KINDS[kind] as readonly string[]).includes(type)) return false
  return stable === null || stablesOf(data).includes(stable)
}

/** Events of the answer and of the stream, each once, newest first. */
export function merged(stored: readonly LogEvent[], live: readonly LogEvent[]): LogEvent[] {
  const byId = new Map([...stored, ...live].map((event) => [event.id, event]))
  return [...byId.values()].sort((a, b) => b.sequence - a.sequence)
}

/** The ids of the events that were taken back. */
export const takenBack = (events: readonly LogEvent[]): Set<string> =>
  new Set(events.flatMap(({ data }) => (data.retracts === undefined ? [] : [data.retracts])))
