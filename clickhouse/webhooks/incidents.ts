type Data = Record<string, unknown>

/** What an event is about. */
export type Incident = {
  /** The type of the event; of a retraction, that of the event which it takes back. */
  type: string
  /** What is before the dot in that type. */
  family: string
  /** The data of that event. */
  about: Data
  /** What distinguishes it from others of its family: the same in its start, its end and its retractions. Empty if it has nothing of that. */
  subject: string
}

const FIELDS = [
  'component',
  'stable',
  'from_token',
  'to_token',
  'severity',
  'started_at',
  'started_block',
  'window_start',
] as const

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '')

/** The break, lost quote, anomaly or component that an event with this type and data is about. */
export function incidentOf(event_type: string, data: Data): Incident {
  const isRetraction = event_type === 'event.retracted'
  const type = isRetraction ? textOf(data.retracted_event) : event_type
  const about = ((isRetraction ? data.original : data) ?? {}) as Data
  const family = type.split('.')[0] ?? type
  const values = FIELDS.filter((field) => field in about).map((field) => textOf(about[field]))
  return { type, family, about, subject: values.join('/') }
}
