/** A peg break. Times are unix seconds. */
export type Break = {
  stable: string
  severity: 'mild' | 'severe'
  startedAt: number
  /** null: not known to have ended. */
  endedAt: number | null
  /** So far, while it is under way; null if only the list of stables has it. */
  maxDeviationBps: number | null
}

/** A stable of the list, and its worst break that is under way. */
type Listed = {
  address: string
  open_break: { severity: Break['severity']; started_at: string } | null
}

type BreakEvent = {
  event: string
  data: {
    stable?: string
    severity?: 'mild' | 'severe'
    started_at?: string
    ended_at?: string
    max_deviation_bps?: number
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
    breaks.set(keyOf(data), {
      stable,
      severity,
      startedAt: seconds(started_at),
      endedAt: ended_at === undefined ? null : seconds(ended_at),
      maxDeviationBps: max_deviation_bps,
    })
  }
  return [...breaks.values()].sort(byStart)
}

const byStart = (a: Break, b: Break): number => a.startedAt - b.startedAt

/**
 * The breaks that events announce, and those that the list of stables has as under way although they began before the
 * oldest of the events. What an event says about a break is newer than the list.
 */
export function withOpen(announced: readonly Break[], stables: readonly Listed[]): readonly Break[] {
  const listed = stables.flatMap(({ address, open_break }): Break[] => {
    if (open_break === null) return []
    const { severity, started_at } = open_break
    const startedAt = seconds(started_at)
    const isAnnounced = breaksOf(announced, address).some(
      (one) => one.severity === severity && one.startedAt === startedAt,
    )
    return isAnnounced ? [] : [{ stable: address, severity, startedAt, endedAt: null, maxDeviationBps: null }]
  })
  return listed.length === 0 ? announced : [...announced, ...listed].sort(byStart)
}

/** Whether a break was under way at any time from `from` to `to`. */
export const isWithin = ({ startedAt, endedAt }: Break, from: number, to: number): boolean =>
  startedAt <= to && (endedAt === null || endedAt > from)

/** The worst break that was under way at an instant; null if none was. */
export function openAt(breaks: readonly Break[], at: number): Break | null {
  const open = breaks.filter((one) => isWithin(one, at, at))
  return open.find(({ severity }) => severity === 'severe') ?? open[0] ?? null
}

/** Those of one stable. */
export const breaksOf = (breaks: readonly Break[], address: string): Break[] =>
  breaks.filter(({ stable }) => stable === address)

/** The next break after an instant, or the one before it; null if there is none. Among several, the order of `breaks`. */
export function neighbour(breaks: readonly Break[], current: Break | null, direction: 1 | -1): Break | null {
  const i = current ? breaks.indexOf(current) : direction === 1 ? -1 : breaks.length
  return breaks[i + direction] ?? null
}
