import { PERIOD_SECONDS } from '../../../clickhouse/jobs/periods.js'
import { DAY_SECONDS, WEEK_SECONDS } from '../../../process/instants.js'

/** On what it depends that an answer about the past is final. */
export type Finality = {
  /** How far behind `as_of` the facts lie that the answer is made of, in seconds; Infinity: all of history. */
  reachSeconds: number
  /** Whether samples of the stable are among them: a stable may be sampled later than it exists. */
  isSampled: boolean
  /** The job whose rows the answer is made of; null where it is made of facts alone. */
  job: string | null
}

/** How old an answer may be. */
export type CachePolicy = {
  /** Of answers about now: what has happened since is in the answer after this time, in seconds. */
  maxAgeSeconds: number
  /** null: answers about the past are never taken for final, because they name what may be read later. */
  finality: Finality | null
  /** Of an answer: whether it looked back further than `finality` says and found nothing, where something may be read later. */
  isOpen?: (answer: Record<string, unknown>) => boolean
}

const ofFacts = (reachSeconds: number): Finality => ({ reachSeconds, isSampled: false, job: null })

const maxAgeOf = (job: keyof typeof PERIOD_SECONDS): number => Math.min(300, PERIOD_SECONDS[job] / 10)

/**
 * How old the answers of each route may be. The age is at most a tenth of the time in which the data change: what the
 * chain changes with each block is 2 seconds old, which is also about what ingest takes; what a job publishes is a tenth
 * of its period old, and 5 minutes at most.
 */
export const CACHE_POLICIES = {
  /** Every block. Which stables are tracked, and what is read of them, may grow for the past too. */
  stablecoins: { maxAgeSeconds: 2, finality: null },
  /** Every block. The windows reach back seven days, a price that still stands to whenever it was made. */
  peg: {
    maxAgeSeconds: 2,
    finality: { reachSeconds: WEEK_SECONDS, isSampled: true, job: null },
    isOpen: ({ current }) => current === null,
  },
  /** Sampled every few blocks. */
  depth: { maxAgeSeconds: 5, finality: null },
  pegEvents: {
    maxAgeSeconds: maxAgeOf('peg-events'),
    finality: { reachSeconds: Number.POSITIVE_INFINITY, isSampled: true, job: 'peg-events' },
  },
  /** A snapshot is made once, of what was known then. The newest one is at most a period old. */
  risk: {
    maxAgeSeconds: maxAgeOf('risk'),
    finality: { reachSeconds: PERIOD_SECONDS.risk, isSampled: false, job: 'risk' },
  },
  reserves: {
    maxAgeSeconds: maxAgeOf('reserves'),
    finality: { reachSeconds: PERIOD_SECONDS.reserves, isSampled: false, job: 'reserves' },
  },
  /** Sums of days, whose figures are promised every 5 minutes. */
  rewards: { maxAgeSeconds: 30, finality: ofFacts(Number.POSITIVE_INFINITY) },
  feeEconomics: { maxAgeSeconds: 30, finality: null },
  /** Probed from time to time, also about blocks that are long in. */
  roles: { maxAgeSeconds: 30, finality: null },
  /** Every block, in windows of an hour at least: a minute is the finest that shows. */
  flows: { maxAgeSeconds: 6, finality: ofFacts(DAY_SECONDS) },
  flowAnomalies: {
    maxAgeSeconds: maxAgeOf('flow-anomalies'),
    finality: { reachSeconds: Number.POSITIVE_INFINITY, isSampled: false, job: 'flow-anomalies' },
  },
} as const satisfies Record<string, CachePolicy>

/** How long an answer may be given again, in milliseconds, and what caches elsewhere are told. */
export type Freshness = {
  /** Until then it is given without looking. */
  maxAgeMs: number
  /** For that much longer it is given where ClickHouse is away or slow, and marked as stale. */
  staleMs: number
  cacheControl: string
}

/**
 * What an answer is about: now, a time back from now, the past as far as it is known today, or a past that nothing
 * changes any more.
 */
export type Finished = 'live' | 'moving' | 'past' | 'final'

/** How long an answer is better than none. */
const STALE_SECONDS = 600
const YEAR_SECONDS = 31_536_000
/** Blocks of that time are all in, but what is read later may still add to them. */
const PAST_SECONDS = 60
/** Whatever is said to others, the answer is computed again after an hour: data sets get repaired. */
const FINAL_SECONDS = 3600

/** How old an answer under `policy` may become. */
export function freshnessOf({ maxAgeSeconds }: CachePolicy, finished: Finished): Freshness {
  if (finished === 'final')
    return {
      maxAgeMs: FINAL_SECONDS * 1000,
      staleMs: DAY_SECONDS * 1000,
      cacheControl: `public, max-age=${YEAR_SECONDS}, immutable`,
    }
  const seconds =
    finished === 'past' ? Math.max(PAST_SECONDS, maxAgeSeconds) : finished === 'moving' ? 1 : maxAgeSeconds
  return {
    maxAgeMs: seconds * 1000,
    staleMs: STALE_SECONDS * 1000,
    cacheControl: `public, max-age=${seconds}, stale-if-error=${STALE_SECONDS}`,
  }
}
