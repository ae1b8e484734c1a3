import type { ClickHouseClient } from '@clickhouse/client'
import { FAMILIES, type Family, isByStable, isOptional } from '../../clickhouse/chain/batches.js'
import { type Ledger, ledgerChanges, type Marks, readLedger, type StoredRange } from '../../clickhouse/chain/ledger.js'
import { mergedRanges } from '../../clickhouse/chain/missing.js'
import { disagreedRanges } from '../../clickhouse/chain/quote-checks.js'
import { readSampling, unsampledRanges } from '../../clickhouse/chain/sampling.js'
import { unknownSince } from '../../clickhouse/chain/unknown-events.js'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { catchUp, hasCaughtUp } from '../../clickhouse/store/replicas.js'
import type { Memories } from '../../process/memory.js'
import { QUERY_TIMEOUT_MS } from './query-signal.js'

/** What is stored, as far as an answer needs it. */
export type LedgerMemory = {
  /**
   * The ledger for an answer about times up to `to`, in unix seconds; for an offer it may be a second old. Rejects with
   * QueryError. Read it before the data, which may only be added to meanwhile.
   */
  read: (to: number, options?: { isOffer?: boolean }) => Promise<Ledger>
  /** The ledger as it was at an earlier instant, read again: an answer about what was known then uses nothing later. */
  readAsOf: (instant: Date, options: { signal: QuerySignal }) => Promise<Ledger>
}

/** Lists of stables change when ingest is started again; they are read again after this time, in milliseconds. */
const LISTS_MS = 60_000
/** The ledger of an answer about a past that is stored already, or of an offer, may be this old, in milliseconds. */
const MAX_AGE_MS = 1000
/** Reading all batches of a long history takes longer than any query of a request. */
const FIRST_READ_TIMEOUT_MS = 4 * QUERY_TIMEOUT_MS

type Batch = Awaited<ReturnType<typeof ledgerChanges>>['batches'][number]

/** The ledger with the ranges of further batches. */
function withBatches(ledger: Ledger, batches: readonly Batch[]): Ledger {
  if (batches.length === 0) return ledger
  const groups = new Map<string, StoredRange[]>()
  const add = (range: StoredRange): void => {
    const key = `${range.family} ${range.stables.join()}`
    groups.set(key, [...(groups.get(key) ?? []), range])
  }
  for (const range of ledger.ranges) add(range)
  for (const { from_block, to_block, from_time, to_time, families, stables } of batches)
    for (const family of families)
      add({
        family,
        stables: isByStable(family) ? stables.toSorted() : [],
        from_block,
        to_block,
        from_time,
        to_time,
      })
  return { ...ledger, ranges: [...groups.values()].flatMap(mergedRanges) }
}

function nextMarks(marks: Marks, batches: readonly Batch[]): Marks {
  const next = { ...marks }
  for (const { track, sequence_number } of batches) {
    const name = track === 'tip' || track === 'backfill' || track === 'catalogue' ? track : 'others'
    next[name] = Math.max(next[name], sequence_number)
  }
  return next
}

/**
 * The last second of which all of these families are stored; 0 if there is none, or if the time of the newest block of one is not
 * known, as on a replica that lags. Those without any block do not count.
 */
export function storedUntil({ ranges }: Pick<Ledger, 'ranges'>, families: readonly Family[]): number {
  const newest = new Map<Family, StoredRange>()
  for (const range of ranges)
    if (families.includes(range.family) && range.to_block > (newest.get(range.family)?.to_block ?? -1))
      newest.set(range.family, range)
  return newest.size === 0 ? 0 : Math.min(...[...newest.values()].map(({ to_time }) => to_time ?? 0))
}

/** Those whose reading can be turned off are stored with the others. */
const ALWAYS_READ = FAMILIES.filter((family) => !isOptional(family))

/**
 * The ledger, kept in memory. It is read once; later only what was committed since. An answer about a time that is
 * stored already needs a statement at most once a second; one about a later time needs one, which concurrent answers
 * share. `nowMs` is a monotonic clock.
 */
export function createLedger(
  clickhouse: ClickHouseClient,
  memories: Memories,
  nowMs = () => performance.now(),
): LedgerMemory {
  async function readUnsampled(options: { signal: QuerySignal; recorded_by?: Date }): Promise<Ledger['unsampled']> {
    const periods = await readSampling(clickhouse, options)
    return (stable, created) => unsampledRanges(periods, { stable, created })
  }

  /** By the number of books on the exchange, which may decide who is sampled. */
  const lists = memories.entries<string, Ledger['unsampled']>({
    name: 'sampled_stables',
    holds: 'which stables were sampled when',
    until: '60 s, a new pair on the exchange, a rollback or a declared gap',
    max: 1,
    ttlMs: LISTS_MS,
  })
  const latest = memories.latest<{ ledger: Ledger; marks: Marks; until: number }>({
    name: 'ledger',
    holds:
      'the ranges of blocks that are stored, those that are declared missing, those whose quotes disagree, and the contracts with unknown events',
    until:
      '1 s for a time that is stored, else the answer; continued by new batches, unknown events and disagreements, read again after a rollback or a declared gap',
    read: async (kept) => {
      const before = kept ?? (await readLedger(clickhouse, {}, { signal: AbortSignal.timeout(FIRST_READ_TIMEOUT_MS) }))
      const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS)
      const changes = await ledgerChanges(clickhouse, before.marks, { signal })
      if (changes.rollback !== before.marks.rollback || changes.gaps !== before.marks.gaps) {
        lists.forget()
        return null
      }
      const unsampled = await lists.read(`${changes.books}`, () =>
        readUnsampled({ signal: AbortSignal.timeout(QUERY_TIMEOUT_MS) }),
      )
      // After a fork, thousands of tokens may have their first unknown event one after the other.
      const unknown =
        changes.unknown === before.marks.unknown ? before.ledger.unknown : await unknownSince(clickhouse, { signal })
      const disagreed =
        changes.disagreed === before.marks.disagreed
          ? before.ledger.disagreed
          : await disagreedRanges(clickhouse, { signal })
      const ledger = {
        ...withBatches({ ...before.ledger, unknown, disagreed, unsampled }, changes.batches),
        head: changes.head,
      }
      const marks = {
        ...nextMarks(before.marks, changes.batches),
        unknown: changes.unknown,
        disagreed: changes.disagreed,
      }
      return { ledger, marks, until: storedUntil(ledger, ALWAYS_READ) }
    },
    // Only what this replica has too counts as stored; while it fetches that, what it had before.
    isSettled: (hasBefore) => hasCaughtUp(clickhouse, hasBefore),
    count: ({ ledger }) => ledger.ranges.length + ledger.gaps.length + ledger.unknown.length + ledger.disagreed.length,
    nowMs,
  })

  return {
    readAsOf: async (recorded_by, options) => {
      const { ledger } = await readLedger(clickhouse, { recorded_by }, options)
      await catchUp(clickhouse, options.signal)
      return { ...ledger, unsampled: await readUnsampled({ ...options, recorded_by }) }
    },
    read: async (to, { isOffer = false } = {}) => {
      const isUsable = ({ until }: { until: number }, ageMs: number): boolean =>
        (isOffer || to <= until) && ageMs < MAX_AGE_MS
      return (await latest.get(isUsable)).ledger
    },
  }
}
