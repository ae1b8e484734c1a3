/** A peg break. Times are unix seconds. */
export type Break = {
  stable: string
  severity: 'mild' | 'severe'
  startedAt: number
  /** null: not known to have ended. */
  endedAt: number | null
  maxDeviationBps: number
}

type BreakEvent = {
  event: string
  data: {
    stable?: string
    severity?: 'mild' | 'severe'
    started_at?: string
    ended_at?: string
    max_deviation_bps?: number
    retracted?: boolean
    original?: BreakEvent['data']
  }
}

const keyOf = ({ stable, severity, started_at }: BreakEvent['data']): string => `${stable} ${severity} ${started_at}`
const seconds = (text: string): number => Date.parse(text) / 1000

/** The breaks that events announce, by their start; without those that were taken back. `events`: oldest first. */
export function breaksFrom(events: readonly BreakEvent[]): Break[] {
  const breaks = new Map<string, Break>()
  for (const { event, data } of events) {
    if (event === 'event.retracted') {
      if (data.original) breaks.delete(keyOf(data.original))
      continue
    }
    const { stable, severity, started_at, ended_at, max_deviation_bps = 0 } = data
    if (!event.startsWith('peg_break.') || !stable || !severity || !started_at) continue
    if (data.retracted) breaks.delete(keyOf(data))
    else
      breaks.set(keyOf(data), {
        stable,
        severity,
        startedAt: seconds(started_at),
        endedAt: ended_at === undefined ? null : seconds(ended_at),
        maxDeviationBps: max_deviation_bps,
      })
  }
  return [...breaks.values()].sort((a, b) => a.startedAt - b.startedAt)
}

/** Those of one stable. */
export const breaksOf = (breaks: readonly Break[], address: string): Break[] =>
  breaks.filter(({ stable }) => stable === address)

/** The next break after an instant, or the one before it; null if there is none. Among several, the order of `breaks`. */
export function neighbour(breaks: readonly Break[], current: Break | null, direction: 1 | -1): Break | null {
  const i = current ? breaks.indexOf(current) : direction === 1 ? -1 : breaks.length
  return breaks[i + direction] ?? null
}
