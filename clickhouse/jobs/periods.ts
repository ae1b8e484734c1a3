import { WEEK_SECONDS } from '../../process/instants.js'
import { FLOW_WINDOW_SECONDS } from '../flows/buckets.js'

/** Seconds from one slot of a job to the next. */
export const PERIOD_SECONDS = {
  'peg-events': 120,
  'peg-tracks': 120,
  risk: 300,
  reserves: 3600,
  holders: 3600,
  'flow-anomalies': FLOW_WINDOW_SECONDS,
  'unusual-flows': FLOW_WINDOW_SECONDS,
} as const

/** A job that runs in slots. */
export type JobName = keyof typeof PERIOD_SECONDS

/**
 * A job that runs in slots. A slot is an instant of chain time, one per period, as of which the job describes the
 * chain.
 */
export type SlotJob = {
  /** Also the name of its worker. */
  name: string
  /** Seconds between two slots. Divides an hour; slots are its multiples in unix time. */
  period_seconds: number
  /** Jobs whose rows this job reads: a slot is due once each of them has completed a slot at or after it. */
  after?: readonly string[]
  /**
   * How much history before a slot has to be read without a hole, in seconds; the slot waits until it is. A chain that
   * is read from its first block has all of its history.
   */
  history_seconds?: number
  /**
   * Whether the newest slots that are due are done first. Only for a job of which no slot depends on another: then what is new
   * does not wait for what is done again.
   */
  newest_first?: boolean
}

/** Every job that runs in slots, in no order. `after` names the jobs that a job depends on. */
export const SLOT_JOBS: readonly SlotJob[] = [
  // A slot continues the breaks of the slot before it.
  { name: 'peg-events', period_seconds: PERIOD_SECONDS['peg-events'] },
  { name: 'peg-tracks', period_seconds: PERIOD_SECONDS['peg-tracks'] },
  // A score includes the events up to its slot.
  { name: 'risk', period_seconds: PERIOD_SECONDS.risk, after: ['peg-events'], newest_first: true },
  { name: 'reserves', period_seconds: PERIOD_SECONDS.reserves, newest_first: true },
  // Each begins with the balances that an earlier one has kept.
  { name: 'holders', period_seconds: PERIOD_SECONDS.holders },
  {
    name: 'flow-anomalies',
    period_seconds: PERIOD_SECONDS['flow-anomalies'],
    history_seconds: WEEK_SECONDS + FLOW_WINDOW_SECONDS,
    newest_first: true,
  },
  // The four weeks by hour are used where they are read: no slot waits for them.
  {
    name: 'unusual-flows',
    period_seconds: PERIOD_SECONDS['unusual-flows'],
    history_seconds: WEEK_SECONDS + FLOW_WINDOW_SECONDS,
    newest_first: true,
  },
]

/** How far a job's newest slot may lie back before what it publishes is late, in seconds: one slot is about to end. */
export const lateSecondsOf = (job: JobName): number => 2 * PERIOD_SECONDS[job]

/**
 * A job that is behind the chain by more periods than this is late. It is normal that one slot is about to finish and
 * that the job waits for another.
 */
export const LATE_PERIODS = 3

/** The names of the jobs that are late. Lags are in seconds; null, when there is no chain yet, is not late. */
export function lateJobs(
  jobs: readonly SlotJob[],
  lags: ReadonlyMap<string, number | null>,
  latePeriods = LATE_PERIODS,
): string[] {
  return jobs
    .filter(({ name, period_seconds }) => (lags.get(name) ?? 0) > latePeriods * period_seconds)
    .map(({ name }) => name)
}
