import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { withAnnounced } from '../../clickhouse/events/announced.js'
import { breakSubject } from '../../clickhouse/events/types.js'
import { AnyBreakKey, allPegEventsAt } from '../../clickhouse/peg/all-breaks.js'
import { StablecoinState, symbolsAt } from '../../clickhouse/stablecoins/states.js'
import { BadParameterError } from '../../process/errors.js'
import { DAY_SECONDS, parseInstant } from '../../process/instants.js'
import { AsOfQuery } from '../answers/as-of.js'
import { BreakFilterQuery } from '../answers/break-filter.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { horizonOf, searchedFields, searchedShape } from '../answers/searched.js'
import { BREAK_JOBS, PegEventShape, publishedBreak, requireFilterOfTrack, TrackQuery } from './peg-events.js'

const { address, symbol, symbol_shared } = StablecoinState.shape

const AllPegEventsResponse = z.object({
  events: z
    .array(z.object({ address, symbol, symbol_shared, ...PegEventShape.shape }))
    .meta({ description: 'Those in progress at some time from `from` on, newest first' }),
  ...searchedShape('Breaks that were confirmed in that time are in the answer'),
  coverage: Coverage,
  next_cursor: NextCursor,
})

/** The start of the requested time, at most `at`. Throws BadParameterError. */
function startOf(app: FastifyInstance, from: string | undefined, at: Date): Date {
  if (from === undefined) return new Date(at.getTime() - DAY_SECONDS * 1000)
  const start = parseInstant('from', from, app.now())
  if (start > at) throw new BadParameterError('from', 'must not be later than the time of the answer')
  return new Date(Math.max(0, start.getTime()))
}

export const allPegEventsRoute = endpoint({
  path: '/stablecoins/peg-events',
  tag: 'peg',
  operationId: 'listAllPegEvents',
  summary: 'Breaks of the peg of all stables since a time, newest first',
  description:
    'The breaks that were in progress at some time from `from` up to now or `as_of`, each as in the list of one stable: also those that began before. A severe break lies inside the time of a mild one of the same stable, if that lasted five minutes, so do not add their durations. A stable without a price has none, which does not mean that it held: `/stablecoins` says which are quoted. Quote `complete_until`, not `coverage.measured_until`, for how far the answer is complete.',
  about: 'moment',
  query: {
    from: z
      .string()
      .optional()
      .meta({
        description: 'Start of the time, in the formats of `as_of`; 24 hours before now or `as_of` if omitted',
        examples: ['7d', '2026-07-01T00:00:00Z'],
      }),
    ...AsOfQuery,
    ...BreakFilterQuery,
    track: TrackQuery,
    limit: LimitQuery,
    cursor: CursorQuery(AnyBreakKey),
  },
  response: AllPegEventsResponse,
  cache: CACHE_POLICIES.pegEvents,
  covers: ({ app, at, query }) => ({
    families: ['pegs'],
    jobs: [BREAK_JOBS[query.track]],
    from: startOf(app, query.from, at).getTime() / 1000,
    to: at.getTime() / 1000,
  }),
  answer: async ({ app, at, coverage, searches, query, signal }) => {
    requireFilterOfTrack(query)
    const { track, limit, cursor: after, severity, min_bps, min_seconds, min_size } = query
    const from = startOf(app, query.from, at)
    const filter = { severity, min_bps, min_seconds, min_size }
    const params = { track, from, as_of: at, horizon: horizonOf(searches), limit: limit + 1, after, filter }
    const events = await allPegEventsAt(app.clickhouse, params, { signal })
    const { rows, next_cursor } = page(
      events,
      limit,
      ({ started_at, started_block, severity, stable }): AnyBreakKey => [
        started_at.getTime() / 1000,
        started_block,
        severity,
        stable,
      ],
    )
    const stables = [...new Set(rows.map(({ stable }) => stable))]
    const [announced, symbols] = await Promise.all([
      withAnnounced(
        app.clickhouse,
        rows,
        ({ started_at, ...event }) => breakSubject(track, { ...event, started_at: started_at.getTime() / 1000 }),
        { known_at: null },
        { signal },
      ),
      stables.length === 0 ? [] : symbolsAt(app.clickhouse, { stables, at }, { signal }),
    ])
    const named = new Map(symbols.map(({ stable, ...names }) => [stable, names]))
    return {
      events: announced.map(({ stable, ...event }) => ({
        address: stable,
        symbol: named.get(stable)?.symbol ?? '',
        symbol_shared: named.get(stable)?.symbol_shared ?? false,
        ...publishedBreak(event),
      })),
      coverage,
      ...searchedFields(searches, at, coverage, from.getTime() / 1000),
      next_cursor,
    }
  },
})
