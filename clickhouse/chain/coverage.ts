import { z } from 'zod'
import { isoSeconds } from '../../process/instants.js'
import type { Ledger } from './ledger.js'
import {
  type Asked,
  MISSING_REASONS,
  type Missing,
  type MissingReason,
  missingOf,
  missingOrUnknown,
  notSearched,
  storedFor,
} from './missing.js'

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

/** Most missing ranges that an answer lists. */
const MOST_MISSING = 100

/** The first and the last measured second of what was asked; null if nothing was measured. */
function measuredSpan(ledger: Ledger, request: Asked): { from: number; until: number } | null {
  const spans = request.families.map((family) => {
    const stored = storedFor(ledger, family, request.stable).filter(
      ({ from_time, to_time }) => (from_time ?? 0) <= request.to && (to_time ?? request.to) >= request.from,
    )
    const [first, last] = [stored[0], stored.at(-1)]
    if (!first || !last) {
      // No block of the asked time exists, but its neighbours are stored: then it is known that nothing happened.
      const isKnown = missingOf(ledger, family, request).length === 0
      return isKnown ? { from: request.from, until: request.to } : null
    }
    const from = Math.max(request.from, request.since?.block_time ?? 0, first.from_time ?? request.from)
    return { from, until: Math.max(from, Math.min(request.to, last.to_time ?? request.to)) }
  })
  if (spans.some((span) => span === null)) return null
  const measured = spans as { from: number; until: number }[]
  return { from: Math.max(...measured.map(({ from }) => from)), until: Math.min(...measured.map(({ until }) => until)) }
}

const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))
const published = ({ from, to, ...range }: Missing) => ({ from: iso(from), to: iso(to), ...range })

/** The missing ranges in a sentence. */
function sentence(missing: readonly Missing[]): string {
  const parts = missing
    .slice(0, 3)
    .map(({ from, to, reason }) => `from ${iso(from)} to ${iso(to)}, because ${MISSING_REASONS[reason]}`)
  const moreRanges = missing.length - parts.length
  return `Missing ${parts.join('; ')}${moreRanges > 0 ? `; and ${moreRanges} more ranges` : ''}.`
}

/**
 * What is left of the measured seconds without ranges at their start or end, which are in order, such as those in which a
 * stable was not sampled; null if nothing is.
 */
function spanWithout(span: { from: number; until: number } | null, ranges: readonly Missing[]) {
  if (span === null) return null
  let { from, until } = span
  for (const range of ranges) if (range.from <= from) from = Math.max(from, range.to)
  for (const range of ranges.toReversed()) if (range.to >= until) until = Math.min(until, range.from)
  const isLeft = from < until || (from === span.from && until === span.until)
  return isLeft ? { from, until } : null
}

/**
 * That all is measured, and when the chain or the stable began, if that was after the start of what was asked: a day of
 * which there is one hour is complete, and must not be read as a day.
 */
function complete({ from }: Asked, began = from): string {
  const isWhole = from === 0 || began <= from
  return `All of it is measured.${isWhole ? '' : ` It begins at ${iso(began)}; before that there was nothing.`}`
}

/** The coverage of what was asked, as it is published. */
export function coverageOf(ledger: Ledger, request: Asked): Coverage {
  const missing = missingOrUnknown(ledger, request)
  const unsampled = missing.filter(({ reason }) => reason === 'not_sampled')
  const searches = request.searches?.filter(({ isPart }) => !isPart)
  const unsearched = notSearched(ledger, { ...request, searches })
  // A single second has no ends that could be left out.
  const isMeasured = request.from < request.to || unsampled.length + unsearched.length === 0
  const stored = measuredSpan(ledger, request)
  const span = isMeasured ? spanWithout(spanWithout(stored, unsampled), unsearched) : null
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
  if (missing.length === 0)
    return { status: 'complete', message: complete(request, stored?.from), ...none, ...measured }
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
