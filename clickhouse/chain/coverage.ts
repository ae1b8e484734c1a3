import { z } from 'zod'
import { isoSeconds } from '../../process/instants.js'
import type { Family } from './batches.js'
import { HEAD_SECONDS } from './heads.js'
import type { Ledger, StoredRange } from './ledger.js'

/** Why a stretch of time is missing. */
const MISSING_REASONS = {
  not_read: 'its blocks have not been read',
  before_history: 'it is before the first block that was read',
  unavailable: 'the node no longer has it',
  unpriced: 'its flows are stored without a value, because the node no longer has the prices',
  not_sampled: 'the stable was not sampled then',
  not_searched: 'it has not been searched yet',
} as const
export type MissingReason = keyof typeof MISSING_REASONS

const time = z.iso.datetime()

/** How much of what an answer is about was measured, as every answer has it. Times in ISO 8601. */
export const Coverage = z
  .object({
    status: z
      .enum(['complete', 'partial', 'unavailable'])
      .meta({ description: 'Whether all, some or none of the data was measured' }),
    message: z.string().meta({ description: 'The same in plain English' }),
    missing: z
      .array(
        z.object({
          from: time.meta({ description: 'Time of the last block before it, or the start of what was asked' }),
          to: time.meta({ description: 'Time of the first block after it, or the end of what was asked' }),
          from_block: z.int().nullable().meta({ description: 'First missing block; null if unknown' }),
          to_block: z.int().nullable().meta({ description: 'Last missing block; null if unknown' }),
          reason: z.enum(Object.keys(MISSING_REASONS) as [MissingReason, ...MissingReason[]]).meta({
            description: Object.entries(MISSING_REASONS)
              .map(([name, why]) => `${name}: ${why}`)
              .join('; '),
          }),
        }),
      )
      .meta({ description: 'What is missing of what was asked, oldest first; ranges do not overlap' }),
    missing_count: z.int().nonnegative().meta({ description: 'Number of missing ranges, including those not listed' }),
    measured_from: time
      .nullable()
      .meta({ description: 'Start of what was measured of what was asked; null if nothing was' }),
    measured_until: time.nullable().meta({
      description: 'End of what was measured of what was asked, apart from the missing ranges; null if nothing was',
    }),
  })
  .meta({ id: 'Coverage', description: 'How much of what was asked for was measured, and why the rest was not' })
export type Coverage = z.infer<typeof Coverage>

/** What is known about an answer besides its missing ranges, such as whether there is a price. */
export type DataState = Pick<Coverage, 'status' | 'message'>

/** What an answer is about. Times in unix seconds, both included. */
export type Asked = {
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
  /**
   * Up to where a job has searched, in unix seconds; null if it has not begun. It counts as behind when that is more than
   * `late_seconds` before `to`.
   */
  searched?: { until: number | null; late_seconds: number } | undefined
}

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
const FIRST_BLOCK = 1
const GENESIS = { block_number: 0, block_time: 0 }
/** Most missing ranges that an answer lists. */
const MOST_MISSING = 100

/** The ranges of a family that are stored for a stable, or for every stable, in order; adjacent ones are merged. */
function storedFor(ledger: Ledger, family: Family, stable?: string): StoredRange[] {
  const own = ledger.ranges.filter(
    (range) =>
      range.family === family &&
      (range.stables.length === 0 || (stable !== undefined && range.stables.includes(stable))),
  )
  return mergedRanges(own)
}

/** The same ranges in order, with adjacent and overlapping ones merged. They must be of one family. */
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

/** Whether no block that the node had by `instant` is missing after `block`. */
const isAtHead = ({ head }: Ledger, block: number, instant: number): boolean =>
  head !== null && block >= head.block_number && instant - head.seen_at <= HEAD_SECONDS

/** The missing ranges of one family, clipped to what was asked, oldest first. */
function missingOf(ledger: Ledger, family: Family, asked: Asked): Missing[] {
  const { to } = asked
  const first = Math.max(FIRST_BLOCK, asked.since?.block_number ?? FIRST_BLOCK)
  const from = Math.max(asked.from, asked.since?.block_time ?? ledger.started_at ?? 0)
  const stored = storedFor(ledger, family, asked.stable).filter(({ to_block }) => to_block >= first)
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
  if (family === 'pegs' && asked.stable !== undefined)
    for (const { from_block, to_block, ...time } of ledger.unsampled(asked.stable, asked.since ?? GENESIS))
      add(from_block, to_block && to_block - 1, time.from, time.to, 'not_sampled')
  if (family === 'logs' && asked.isPriced)
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
const isApart = (one: Missing, next: Missing): boolean =>
  one.to_block !== null &&
  next.from_block !== null &&
  (next.from_block > one.to_block + 1 || next.reason !== one.reason)

/** The time that a job has not searched yet. */
function notSearched(ledger: Ledger, { from, to, since, searched }: Asked): Missing[] {
  if (!searched || (searched.until !== null && searched.until + searched.late_seconds >= to)) return []
  const start = Math.min(to, Math.max(from, since?.block_time ?? ledger.started_at ?? 0, searched.until ?? 0))
  return [{ from: start, to, from_block: null, to_block: null, reason: 'not_searched' }]
}

/** The parts of what was asked that are missing, oldest first. */
export const missingRanges = (ledger: Ledger, asked: Asked): Missing[] =>
  disjoint([...asked.families.flatMap((family) => missingOf(ledger, family, asked)), ...notSearched(ledger, asked)])

/** The first and the last measured second of what was asked; null if nothing was measured. */
function measuredSpan(ledger: Ledger, asked: Asked): { from: number; until: number } | null {
  const spans = asked.families.map((family) => {
    const stored = storedFor(ledger, family, asked.stable).filter(
      ({ from_time, to_time }) => (from_time ?? 0) <= asked.to && (to_time ?? asked.to) >= asked.from,
    )
    const [first, last] = [stored[0], stored.at(-1)]
    if (!first || !last) {
      // No block of the asked time exists, but its neighbours are stored: then it is known that nothing happened.
      const isKnown = missingOf(ledger, family, asked).length === 0
      return isKnown ? { from: asked.from, until: asked.to } : null
    }
    const from = Math.max(asked.from, asked.since?.block_time ?? 0, first.from_time ?? asked.from)
    return { from, until: Math.max(from, Math.min(asked.to, last.to_time ?? asked.to)) }
  })
  if (spans.some((span) => span === null)) return null
  const known = spans as { from: number; until: number }[]
  return { from: Math.max(...known.map(({ from }) => from)), until: Math.min(...known.map(({ until }) => until)) }
}

const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))
const published = ({ from, to, ...range }: Missing) => ({ from: iso(from), to: iso(to), ...range })

/** The missing ranges in a sentence. */
function sentence(missing: readonly Missing[]): string {
  const parts = missing
    .slice(0, 3)
    .map(({ from, to, reason }) => `from ${iso(from)} to ${iso(to)}, because ${MISSING_REASONS[reason]}`)
  const rest = missing.length - parts.length
  return `Missing ${parts.join('; ')}${rest > 0 ? `; and ${rest} more ranges` : ''}.`
}

/** What is left of the measured seconds when a stable was not sampled at their start or end; null if nothing is. */
function sampledSpan(span: { from: number; until: number } | null, missing: readonly Missing[]) {
  let left = span
  for (const { from, to, reason } of missing) {
    if (left === null || reason !== 'not_sampled') continue
    if (from <= left.from && to >= left.until) left = null
    else if (from <= left.from) left = { ...left, from: Math.max(left.from, to) }
    else if (to >= left.until) left = { ...left, until: Math.min(left.until, from) }
  }
  return left
}

/** The coverage of what was asked, as it is published. */
export function coverageOf(ledger: Ledger, asked: Asked): Coverage {
  const missing = missingRanges(ledger, asked)
  const span = sampledSpan(measuredSpan(ledger, asked), missing)
  const none = {
    missing: missing.slice(0, MOST_MISSING).map(published),
    missing_count: missing.length,
  }
  if (span === null)
    return {
      status: 'unavailable',
      message: `Nothing of it is measured. ${sentence(missing)}`,
      ...none,
      measured_from: null,
      measured_until: null,
    }
  const measured = { measured_from: iso(span.from), measured_until: iso(span.until) }
  if (missing.length === 0) return { status: 'complete', message: 'All of it is measured.', ...none, ...measured }
  return { status: 'partial', message: sentence(missing), ...none, ...measured }
}

const RANK = { complete: 0, partial: 1, unavailable: 2 } as const

/**
 * The coverage together with what else is known about the answer, such as whether there is a price: the worse of the two
 * states, and both messages where both have something to say.
 */
export function withState(coverage: Coverage, state: DataState): Coverage {
  const status = RANK[state.status] > RANK[coverage.status] ? state.status : coverage.status
  const message =
    coverage.status === 'complete'
      ? state.message
      : state.status === 'complete'
        ? coverage.message
        : `${state.message} ${coverage.message}`
  return { ...coverage, status, message }
}
