import { z } from 'zod'
import { Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { type Announced, announcedPegBreaks, withAnnounced } from '../../clickhouse/events/announced.js'
import { breakSubject } from '../../clickhouse/events/types.js'
import type { JobName } from '../../clickhouse/jobs/periods.js'
import { Direction, Severity, Track } from '../../clickhouse/peg/break-filter.js'
import { type PegEvent, PegEventKey, pegEventsAt } from '../../clickhouse/peg/breaks.js'
import { breaksState } from '../../clickhouse/peg/coverage.js'
import { currentPeg } from '../../clickhouse/peg/current.js'
import { isThin } from '../../clickhouse/peg/standing.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { BadParameterError } from '../../process/errors.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfQuery, allUntil, notPublished } from '../answers/as-of.js'
import { BreakFilterQuery } from '../answers/break-filter.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { AnnouncedAt, announcedAtOf, KnownAtEcho, KnownAtQuery } from '../answers/known-at.js'
import { horizonOf, searchedFields, searchedShape } from '../answers/searched.js'

export const PegEventShape = z.object({
  severity: Severity.meta({
    description: 'mild: more than 10 bps from 1.00 for at least 5 minutes; severe: more than 50 bps for at least 1',
  }),
  direction: Direction.meta({ description: 'On which side of 1.00 it began' }),
  started_at: z.iso.datetime().meta({ description: 'Time of the first sample outside' }),
  ended_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'Time of the first sample back inside; null while ongoing' }),
  duration_seconds: z.int().meta({
    description:
      'Seconds from the first sample outside the limit of its severity; while ongoing, until the newest sample',
  }),
  max_deviation_bps: z.number().meta({ description: 'Largest distance from 1.00 in basis points, so far' }),
  started_block: z.int().meta({ description: 'Height of the first block outside' }),
  ended_block: z.int().nullable().meta({ description: 'Height of the first block back inside; null while ongoing' }),
  ongoing: z.boolean().meta({
    description:
      'Whether it is ongoing; if the stable is no longer sampled, whether it was at the last sample (coverage.missing)',
  }),
  standing_tokens: z.int().nullable().meta({
    description:
      'The largest sampled size up to which every size sold beyond the limit, on the side of direction, when the break was confirmed; 0: none. null: not measured, or an agreed break',
  }),
  thin: z.boolean().nullable().meta({
    description:
      'Whether standing_tokens is below 10,000: the book contradicts the price of one token. null if that is unknown',
  }),
  published_at: AnnouncedAt,
})

const PegEventsResponse = z.object({
  address: stableAddress,
  events: z.array(PegEventShape).meta({ description: 'Newest first' }),
  ...searchedShape('Breaks that were confirmed in that time are in the answer'),
  coverage: Coverage,
  known_at: KnownAtEcho,
  next_cursor: NextCursor,
})

export const publishedBreak = ({
  max_deviation_micros,
  started_at,
  ended_at,
  published_at,
  ...event
}: PegEvent & Announced) => ({
  ...event,
  started_at: isoSeconds(started_at),
  ended_at: ended_at && isoSeconds(ended_at),
  max_deviation_bps: max_deviation_micros / 100,
  thin: isThin(event.standing_tokens),
  ongoing: ended_at === null,
  published_at: announcedAtOf(published_at),
})

const keyOf = ({ started_at, started_block, severity }: PegEvent): PegEventKey => [
  started_at.getTime() / 1000,
  started_block,
  severity,
]

/** The jobs that find the breaks of each track. */
export const BREAK_JOBS = { published: 'peg-events', agreed: 'peg-tracks' } as const satisfies Record<Track, JobName>

export const TrackQuery = Track.default('published').meta({
  description:
    'Which set of tracks. agreed: breaks of a smoothed price on which one token and 10,000 agree; mild from 10 to 7 bps, severe from 50 to 35',
})

/** Throws BadParameterError for a filter that a track does not have. */
export function requireFilterOfTrack({ track, min_size }: { track: Track; min_size?: number | undefined }): void {
  if (min_size !== undefined && track === 'agreed')
    throw new BadParameterError('min_size', 'does not apply to track=agreed, whose breaks are judged by 10,000 tokens')
}

export const pegEventsRoute = endpoint({
  path: '/stablecoins/:address/peg-events',
  tag: 'peg',
  operationId: 'listPegEvents',
  summary: 'Breaks of the peg, newest first',
  description:
    'Mild and severe breaks are two tracks of events, found every two minutes of chain time: a severe break lies inside the time of a mild one of the same stable, if that lasted five minutes, so do not add their durations. With as_of, events that ended later are shown as ongoing. With known_at, those that had been announced by then and not taken back, as they were announced. Filters apply to what the answer says of a break.',
  about: 'moment',
  query: {
    ...AsOfQuery,
    ...KnownAtQuery,
    ...BreakFilterQuery,
    track: TrackQuery,
    limit: LimitQuery,
    cursor: CursorQuery(PegEventKey),
  },
  response: PegEventsResponse,
  cache: CACHE_POLICIES.pegEvents,
  covers: ({ stable, at, since, query }) => ({
    families: ['pegs'],
    jobs: [BREAK_JOBS[query.track]],
    stable,
    since,
    ...allUntil(at),
  }),
  answer: async ({ app, stable, asOf: as_of, at, cutoff, knownAt, coverage, searches, query, signal, reads }) => {
    const { track, limit, cursor: after, severity, min_bps, min_seconds, min_size } = query
    requireFilterOfTrack(query)
    const horizon = horizonOf(searches)
    if (knownAt && !horizon) throw notPublished('peg breaks', knownAt)
    const until = horizon && new Date(Math.min(horizon.getTime(), at.getTime()))
    const params = { track, stable, limit: limit + 1, after, filter: { severity, min_bps, min_seconds, min_size } }
    const [events, peg] = await Promise.all([
      knownAt
        ? announcedPegBreaks(app.clickhouse, { ...params, as_of: until ?? at, known_at: knownAt }, { signal })
        : pegEventsAt(app.clickhouse, { ...params, as_of, horizon }, reads),
      knownAt ? null : currentPeg(app.clickhouse, { stable, as_of: cutoff }, reads),
    ])
    const state = peg && breaksState(peg)
    const { rows, next_cursor } = page<PegEvent>(events, limit, keyOf)
    const announced = await withAnnounced(
      app.clickhouse,
      rows,
      ({ started_at, ...event }) => breakSubject(track, { ...event, stable, started_at: started_at.getTime() / 1000 }),
      { known_at: knownAt },
      { signal },
    )
    return {
      address: stable,
      events: announced.map(publishedBreak),
      coverage: state ? withState(coverage, state) : coverage,
      ...searchedFields(searches, at, coverage),
      next_cursor,
    }
  },
})
