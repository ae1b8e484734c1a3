import { PERIOD_SECONDS } from '../../../clickhouse/jobs/periods.js'
import { LONGEST_PEG_WINDOW } from '../../../clickhouse/peg/windows.js'
import { ISSUANCE_SECONDS } from '../../../clickhouse/supply/issuance.js'
import { DAY_SECONDS } from '../../../process/instants.js'
import { aged } from '../../stablecoins/quote.js'

/** What decides whether an answer about the past is final. */
export type Finality = {
  /** How far before `as_of` the facts of the answer reach, in seconds; Infinity: all of history. */
  reachSeconds: number
  /** Whether the answer depends on samples of the stable: a stable may be sampled only some time after its creation. */
  isSampled: boolean
}

/** How old an answer may be. */
export type CachePolicy = {
  /** For live answers: changes appear in the answer after this time, in seconds. */
  maxAgeSeconds: number
  /** null: answers about the past are never final, because data that is read later can change them. */
  finality: Finality | null
  /**
   * Whether an answer had to look back further than `finality` says and found nothing, where older data may still be
   * read.
   */
  isOpen?: (answer: Record<string, unknown>) => boolean
  /** A live answer that is served so many seconds after its maximum age: with what it says about now as it is by then. */
  aged?: (answer: Record<string, unknown>, seconds: number) => Record<string, unknown>
}

const ofFacts = (reachSeconds: number): Finality => ({ reachSeconds, isSampled: false })

const maxAgeOf = (job: keyof typeof PERIOD_SECONDS): number => Math.min(300, PERIOD_SECONDS[job] / 10)

/**
 * How old the answers of each route may be: at most a tenth of the period in which the data change. What each block
 * changes may be 2 seconds old, which is about as long as ingest takes; what a job publishes, a tenth of its period, at
 * most 5 minutes.
 */
export const CACHE_POLICIES = {
  /** Changes with every block. The tracked stables, and what is read of them, may also grow for the past. */
  stablecoins: { maxAgeSeconds: 2, finality: null, aged },
  /**
   * Changes with every block. Without a quote, when it was lost may be longer ago than the longest window.
   */
  peg: {
    maxAgeSeconds: 2,
    finality: { reachSeconds: LONGEST_PEG_WINDOW, isSampled: true },
    isOpen: ({ quote }) => (quote as { quoted: boolean | null } | null)?.quoted !== true,
    aged,
  },
  /** Has only buckets that have ended; a new one appears this late. */
  columns: { maxAgeSeconds: 5, finality: null },
  /** Changes with every block, but windows have at least an hour. Prices of other stables are in it too. */
  averages: { maxAgeSeconds: 6, finality: null },
  /** Changes with every block; rests on all logs before it. */
  book: {
    maxAgeSeconds: 2,
    finality: ofFacts(Number.POSITIVE_INFINITY),
    isOpen: ({ books }) =>
      (books as { unknown_since: number | null }[]).some(({ unknown_since }) => unknown_since !== null),
  },
  /** Sampled every few blocks. */
  depth: { maxAgeSeconds: 5, finality: null },
  /**
   * Of what jobs publish, a slot may be done again at any time, as after a backfill: an answer without `known_at` is the
   * newest revision, which is never final.
   */
  pegEvents: { maxAgeSeconds: maxAgeOf('peg-events'), finality: null },
  risk: { maxAgeSeconds: maxAgeOf('risk'), finality: null },
  reserves: { maxAgeSeconds: maxAgeOf('reserves'), finality: null },
  /** Sums over days too. A supply that was not read before them may still be read. */
  issuance: {
    maxAgeSeconds: 30,
    finality: ofFacts(ISSUANCE_SECONDS),
    isOpen: ({ windows }) =>
      (windows as { supply_at_start: string | null }[]).some(({ supply_at_start }) => supply_at_start === null),
  },
  /** Of many accounts. Transfers that were not read may still be read, and so may a supply. */
  holders: {
    maxAgeSeconds: 10,
    finality: ofFacts(Number.POSITIVE_INFINITY),
    isOpen: ({ holder_count }) => holder_count === null,
  },
  /** Sums over days, which are promised to be updated every 5 minutes. */
  rewards: { maxAgeSeconds: 30, finality: ofFacts(Number.POSITIVE_INFINITY) },
  feeEconomics: { maxAgeSeconds: 30, finality: null },
  /** Probed from time to time, also for blocks that were stored long ago. */
  roles: { maxAgeSeconds: 30, finality: null },
  /** Changes with every block, but windows have at least an hour: changes within a minute hardly show. */
  flows: { maxAgeSeconds: 6, finality: ofFacts(DAY_SECONDS) },
  /** Has only windows that have ended; that an edge began earlier can become known from any older block. */
  flowScores: { maxAgeSeconds: 6, finality: ofFacts(Number.POSITIVE_INFINITY) },
  flowAnomalies: { maxAgeSeconds: maxAgeOf('flow-anomalies'), finality: null },
} as const satisfies Record<string, CachePolicy>

/** How long an answer may be served again, in milliseconds, and its Cache-Control for other caches. */
export type Freshness = {
  /** Until then it is served without a check. */
  maxAgeMs: number
  /** For this much longer it is served, marked as stale, if ClickHouse is unreachable or slow. */
  staleMs: number
  cacheControl: string
}

/**
 * The time of an answer: now, a time relative to now, a past that may still be completed, or a past that can no longer
 * change.
 */
export type Finished = 'live' | 'moving' | 'past' | 'final'

/** How long an old answer is better than none. */
const STALE_SECONDS = 600
const YEAR_SECONDS = 31_536_000
/** All blocks of that time are stored, but data that is read later may still be added. */
const PAST_SECONDS = 60
/** Whatever other caches are told, the answer is computed again after an hour, because data sets get repaired. */
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
