import { z } from 'zod'
import type { Coverage } from '../../clickhouse/chain/coverage.js'
import { type Search, searchedSpan } from '../../clickhouse/chain/searched.js'
import { isoSeconds } from '../../process/instants.js'

/** The fields of an answer made of events that say what its jobs have searched; `what` that means. */
export const searchedShape = (what: string) => ({
  searched_from: z.iso.datetime().nullable().meta({
    description: `Start of what has been searched; null before the first search`,
  }),
  searched_until: z.iso
    .datetime()
    .nullable()
    .meta({
      description: `End of what has been searched; null before the first search. ${what} from searched_from on, apart from the missing ranges of coverage`,
    }),
  complete_until: z.iso.datetime().nullable().meta({
    description:
      'Nothing is missing from searched_from to here: an answer without results means that there were none in that time; null if something is missing at its start',
  }),
})

const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))

/** The end of the time after `from` of which nothing is missing, at most `until`; null if it has no length, or is unknown. */
function completeUntil(from: string, until: string, { missing, missing_count }: Coverage): string | null {
  const gap = missing.find((range) => range.to > from)
  // A list that was cut may lack the range that comes next.
  if (gap === undefined) return missing.length < missing_count ? null : until
  if (gap.from <= from) return null
  return gap.from < until ? gap.from : until
}

/**
 * Those fields: the time from `since` up to `until` that every search reached, from the latest start to the earliest end, and how
 * much of it is complete.
 */
export function searchedFields(searches: readonly Search[], until: Date, coverage: Coverage, since = 0) {
  const spans = searches.map((search) => searchedSpan(search, until.getTime() / 1000))
  const from = Math.max(since, ...spans.map((span) => span?.from ?? Number.POSITIVE_INFINITY))
  const end = Math.min(...spans.map((span) => span?.until ?? 0))
  if (from >= end) return { searched_from: null, searched_until: null, complete_until: null }
  const [searched_from, searched_until] = [iso(from), iso(end)]
  return { searched_from, searched_until, complete_until: completeUntil(searched_from, searched_until, coverage) }
}

/** The end of the newest slot that the first of the searches has done; null before that. Its results go that far. */
export function horizonOf([search]: readonly Search[]): Date | null {
  const last = search?.stretches.at(-1)
  return last ? new Date(last.until * 1000) : null
}
