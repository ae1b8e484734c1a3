import type { Family } from './batches.js'
import { HEAD_SECONDS } from './heads.js'
import type { Ledger, StoredRange } from './ledger.js'
import { MOST_STABLES } from './quote-checks.js'
import { type Search, unsearched } from './searched.js'
import { type Emitter, touching } from './unknown-events.js'

/** Why a stretch of time is missing. */
export const MISSING_REASONS = {
  not_read: 'its blocks have not been read',
  before_history: 'it is before the first block that was read',
  unavailable: 'the node no longer has it',
  unpriced: 'some of its flows are stored without a value, because the node no longer has the prices',
  not_sampled: 'the stable was not sampled then',
  not_searched: 'it has not been searched yet',
  unknown_event: 'a contract of the chain has events since then that this version does not know and that may change it',
  disagrees: "the node quoted otherwise than the exchange's books, so its quotes were taken where it had them",
} as const
export type MissingReason = keyof typeof MISSING_REASONS

/** What may be missing. Times in unix seconds, both included. */
export type Sought = {
  families: readonly Family[]
  /** Whose pegs and state; if omitted, those of all stables. */
  stable?: string | undefined
  /** The first second; 0 for all of history. */
  from: number
  to: number
  /** The first block that can have facts, and its time; if omitted, the chain's first block. */
  since?: { block_number: number; block_time: number } | undefined
  /** Whether flows that have no value are missing too. */
  isPriced?: boolean | undefined
  /** What the jobs whose results are in the answer have searched; the rest is missing too. */
  searches?: readonly Search[] | undefined
}

/**
 * What an answer is about. Logs have events of many contracts: an answer that rests on them says on whose, so that an event
 * that is not understood makes only those answers partial that it may change.
 */
export type Asked = Sought &
  (
    | { families: ReadonlyArray<Exclude<Family, 'logs'>>; logsOf?: readonly Emitter[] | undefined }
    | { families: readonly Family[]; logsOf: readonly Emitter[] }
  )

/** A missing part of what was asked, clipped to it. Times in unix seconds. */
export type Missing = {
  from: number
  to: number
  from_block: number | null
  to_block: number | null
  reason: MissingReason
}

/** A block may be this old before it counts as late, in seconds: it has to become final, be read and be stored. */
const LATE_SECONDS = 10
/** The first block of a chain after its genesis block. */
export const FIRST_BLOCK = 1
const GENESIS = { block_number: 0, block_time: 0 }
/** The ranges of a family that are stored for a stable, or for every stable, in order; adjacent ones are merged. */
export function storedFor(ledger: Pick<Ledger, 'ranges'>, family: Family, stable?: string): StoredRange[] {
  const familyRanges = ledger.ranges.filter(
    (range) =>
      range.family === family &&
      (range.stables.length === 0 || (stable !== undefined && range.stables.includes(stable))),
  )
  return mergedRanges(familyRanges)
}

/** The ranges in order, with adjacent and overlapping ones merged. They must be of one family. */
export function mergedRanges(ranges: readonly StoredRange[]): StoredRange[] {
  const whole: StoredRange[] = []
  for (const range of ranges.toSorted((a, b) => a.from_block - b.from_block)) {
    const last = whole.at(-1)
    if (!last || range.from_block > last.to_block + 1) whole.push({ ...range })
    else {
      if (range.from_block === last.from_block) last.from_time ??= range.from_time
      if (range.to_block > last.to_block) [last.to_block, last.to_time] = [range.to_block, range.to_time]
      else if (range.to_block === last.to_block) last.to_time ??= range.to_time
    }
  }
  return whole
}

/** The range of a family, for a stable or for every stable, that an instant is in; undefined if it is not read then. */
export const rangeAt = (
  ledger: Pick<Ledger, 'ranges'>,
  family: Family,
  instant: number,
  stable?: string,
): StoredRange | undefined =>
  storedFor(ledger, family, stable).find(
    ({ from_time, to_time }) => (from_time ?? instant) <= instant && (to_time ?? instant) >= instant,
  )

/**
 * Since when everything of a family is read up to an instant, in unix seconds: 0 if since the chain's first block, the
 * instant itself if it is not read.
 */
export function readSince(ledger: Pick<Ledger, 'ranges'>, family: Family, instant: number): number {
  const range = rangeAt(ledger, family, instant)
  if (!range) return instant
  return range.from_block <= FIRST_BLOCK ? 0 : (range.from_time ?? instant)
}

/** Whether everything of a family is read in (from, to], or since a stable's creation if that is later. Unix seconds. */
export function isRead(
  ledger: Pick<Ledger, 'ranges'>,
  family: Family,
  { stable, created_block, from, to }: { stable: string; created_block: number; from: number; to: number },
): boolean {
  const range = rangeAt(ledger, family, to, stable)
  if (!range) return false
  return range.from_block <= Math.max(FIRST_BLOCK, created_block) || (range.from_time ?? to) <= from
}

/** Whether no block that the node had by `instant` is missing after `block`. */
const isAtHead = ({ head }: Ledger, block: number, instant: number): boolean =>
  head !== null && block >= head.block_number && instant - head.seen_at <= HEAD_SECONDS

/** The missing ranges of one family, clipped to what was asked, oldest first. */
export function missingOf(ledger: Ledger, family: Family, request: Sought): Missing[] {
  const { to } = request
  const first = Math.max(FIRST_BLOCK, request.since?.block_number ?? FIRST_BLOCK)
  const from = Math.max(request.from, request.since?.block_time ?? ledger.started_at ?? 0)
  const stored = storedFor(ledger, family, request.stable).filter(({ to_block }) => to_block >= first)
  const last = stored.at(-1)
  if (!last) return from > to ? [] : [{ from, to, from_block: null, to_block: null, reason: 'not_read' }]
  const missing: Missing[] = []
  /** Adds the blocks between the times of their neighbours, both included, where a null is unknown. */
  const add = (
    from_block: number,
    to_block: number | null,
    after: number | null,
    before: number | null,
    reason: MissingReason,
  ) => {
    const [start, end] = [Math.max(from, after ?? from), Math.min(to, before ?? to)]
    if ((after ?? from) > to || (before ?? to) < from || start > end) return
    missing.push({ from: start, to: end, from_block, to_block, reason })
  }
  const reasonOf = (from_block: number, to_block: number): MissingReason =>
    ledger.gaps.some((gap) => gap.family === family && gap.from_block <= to_block && gap.to_block >= from_block)
      ? 'unavailable'
      : 'not_read'
  for (const [i, range] of stored.entries()) {
    const before = stored[i - 1]
    const from_block = before ? before.to_block + 1 : first
    const to_block = range.from_block - 1
    if (from_block > to_block) continue
    const reason = reasonOf(from_block, to_block)
    add(
      from_block,
      to_block,
      before?.to_time ?? null,
      range.from_time,
      before || reason === 'unavailable' ? reason : 'before_history',
    )
  }
  const end = last.to_time ?? last.from_time
  const isLate = end === null || to > end + LATE_SECONDS
  if (isLate && !isAtHead(ledger, last.to_block, to)) add(last.to_block + 1, null, end, null, 'not_read')
  if (family === 'pegs' && request.stable !== undefined)
    for (const { from_block, to_block, ...time } of ledger.unsampled(request.stable, request.since ?? GENESIS))
      add(from_block, to_block && to_block - 1, time.from, time.to, 'not_sampled')
  if (family === 'logs' && request.isPriced)
    for (const gap of ledger.gaps)
      if (gap.family === 'logs') add(gap.from_block, gap.to_block, gap.from_time, gap.to_time, 'unpriced')
  return missing
}

/** The ranges in order. Those that overlap become one, with the reason of the one that begins first. */
function disjoint(ranges: readonly Missing[]): Missing[] {
  const apart: Missing[] = []
  const least = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))
  for (const range of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = apart.at(-1)
    if (!last || range.from > last.to || (range.from === last.to && isApart(last, range))) apart.push({ ...range })
    else {
      last.to = Math.max(last.to, range.to)
      last.from_block = least(last.from_block, range.from_block)
      last.to_block = last.to_block === null || range.to_block === null ? null : Math.max(last.to_block, range.to_block)
    }
  }
  return apart
}

/** Whether two ranges that share a second have a block between them, or different reasons. */
const isApart = (range: Missing, next: Missing): boolean =>
  range.to_block !== null &&
  next.from_block !== null &&
  (next.from_block > range.to_block + 1 || next.reason !== range.reason)

/**
 * What the searches have left out of what was asked, oldest first, whether or not its blocks are stored. The time before
 * the first stored block is not part of it: nobody can search there.
 */
export function notSearched(ledger: Ledger, request: Sought): Missing[] {
  const starts = request.families.map((family) => storedFor(ledger, family, request.stable)[0]?.from_time ?? 0)
  const from = Math.max(request.from, request.since?.block_time ?? ledger.started_at ?? 0, Math.min(...starts))
  if (from > request.to) return []
  const parts = (request.searches ?? []).flatMap((search) => unsearched(search, from, request.to))
  return disjoint(parts.map((part) => ({ ...part, from_block: null, to_block: null, reason: 'not_searched' })))
}

/** What is left of a range without the time of others, which are disjoint and in order. */
function without(range: Missing, holes: readonly Missing[]): Missing[] {
  const parts: Missing[] = []
  let { from } = range
  const overlapping = holes.filter((hole) => hole.from <= range.to && hole.to >= range.from)
  for (const hole of overlapping) {
    if (hole.from > from) parts.push({ ...range, from, to: hole.from })
    from = Math.max(from, hole.to)
  }
  if (from < range.to || overlapping.length === 0) parts.push({ ...range, from })
  return parts
}

/**
 * The parts of what was asked that are missing, oldest first. Time that was not searched is listed apart from blocks that
 * are missing in it, which keep their own reason.
 */
export function missingRanges(ledger: Ledger, request: Sought): Missing[] {
  const holes = disjoint(request.families.flatMap((family) => missingOf(ledger, family, request)))
  const unsearchedParts = notSearched(ledger, request).flatMap((range) => without(range, holes))
  return [...holes, ...unsearchedParts].toSorted(byTime)
}

/** The time of what was asked in which events that are not understood may have changed it; none if there are none. */
function unknownTime(ledger: Ledger, request: Asked): Missing[] {
  const [first] = touching(ledger.unknown, request).toSorted((a, b) => a.from_block - b.from_block)
  if (!first || first.from_time > request.to) return []
  const from = Math.max(request.from, request.since?.block_time ?? 0, first.from_time)
  const from_block = from > first.from_time ? null : first.from_block
  return from > request.to ? [] : [{ from, to: request.to, from_block, to_block: null, reason: 'unknown_event' }]
}

/** The time of what was asked in which the node quoted otherwise than the books; none of what does not rest on quotes. */
function disagreedTime({ disagreed }: Ledger, { families, stable, since, ...request }: Asked): Missing[] {
  if (!families.includes('pegs')) return []
  const first = Math.max(request.from, since?.block_time ?? 0)
  return disagreed
    .filter(
      ({ from_time, to_time, stables }) =>
        to_time >= first &&
        from_time <= request.to &&
        (stable === undefined || stables.includes(stable) || stables.length >= MOST_STABLES),
    )
    .map(({ from_block, to_block, from_time, to_time }) => ({
      ...{ from: Math.max(first, from_time), to: Math.min(request.to, to_time), from_block, to_block },
      reason: 'disagrees',
    }))
}

/**
 * What is missing of what was asked, from when on it may be wrong by events that are not understood, and where the node
 * disagreed, oldest first; a part has the first of these reasons that applies.
 */
export function missingOrUnknown(ledger: Ledger, request: Asked): Missing[] {
  const missing = missingRanges(ledger, request)
  const unknown = unknownTime(ledger, request).flatMap((range) => without(range, missing))
  const disagreed = disagreedTime(ledger, request).flatMap((range) =>
    without(range, [...missing, ...unknown].toSorted(byTime)),
  )
  return [...missing, ...unknown, ...disagreed].toSorted(byTime)
}

const byTime = (a: Missing, b: Missing): number => a.from - b.from || a.to - b.to
