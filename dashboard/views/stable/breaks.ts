import type { Coverage } from '../parts/block.js'

/** GET /stablecoins/{address}/peg-events, newest first. */
export type PegEvents = {
  events: readonly PegEvent[]
  coverage: Coverage
  next_cursor: string | null
}

export type PegEvent = {
  severity: 'mild' | 'severe'
  started_at: string
  ended_at: string | null
  duration_seconds: number | null
  max_deviation_bps: number
  /** null: not known. */
  thin: boolean | null
  ongoing: boolean
}

export const secondsOf = (text: string): number => Date.parse(text) / 1000

/** The moment at which the page shows a break best: shortly after its end, or after its start while it lasts. */
export const momentOf = ({ started_at, ended_at }: PegEvent): number => secondsOf(ended_at ?? started_at) + 600

/** The newest break that had ended before a moment, null if there is none. `events`: newest first. */
export const breakBefore = (events: readonly PegEvent[], at: number): PegEvent | null =>
  events.find((event) => momentOf(event) < at) ?? null
