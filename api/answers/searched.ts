import { z } from 'zod'
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
})

const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))

/** Those fields: the time up to `until` that every search reached, from the latest start to the earliest end. */
export function searchedFields(searches: readonly Search[], until: Date) {
  const spans = searches.map((search) => searchedSpan(search, until.getTime() / 1000))
  const from = Math.max(...spans.map((span) => span?.from ?? Number.POSITIVE_INFINITY))
  const end = Math.min(...spans.map((span) => span?.until ?? 0))
  return from < end
    ? { searched_from: iso(from), searched_until: iso(end) }
    : { searched_from: null, searched_until: null }
}

/** The end of the newest slot that the first of the searches has done; null before that. Its results go that far. */
export function horizonOf([search]: readonly Search[]): Date | null {
  const last = search?.stretches.at(-1)
  return last ? new Date(last.until * 1000) : null
}
