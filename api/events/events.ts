import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Family } from '../../clickhouse/chain/batches.js'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { OF_FLOWS } from '../../clickhouse/chain/unknown-events.js'
import { eventsAfter, newestEvents, newestSequence, newestSequenceBy } from '../../clickhouse/events/log.js'
import { EVENT_TYPES } from '../../clickhouse/events/types.js'
import type { JobName } from '../../clickhouse/jobs/periods.js'
import { Address } from '../../clickhouse/store/values.js'
import { BadParameterError } from '../../process/errors.js'
import { parseInstant } from '../../process/instants.js'
import { AsOfQuery, allUntil, PastEcho } from '../answers/as-of.js'
import { BreakFilterQuery } from '../answers/break-filter.js'
import { LimitQuery } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { KnownAtEcho, KnownAtQuery } from '../answers/known-at.js'
import { searchedFields, searchedShape } from '../answers/searched.js'
import { NotFoundError } from '../http/errors.js'
import { EventShape, shapedEvent } from './shapes.js'

/** Values of `value`, separated by commas. */
const list = <Value extends z.ZodType<unknown, string>>(value: Value, most: number) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(value).max(most))
    .optional()

/** A query parameter with some of `types`. */
export const TypesQuery = <const Types extends readonly [string, ...string[]]>(types: Types) =>
  list(z.enum(types), types.length).meta({
    description: `Only these types, separated by commas: ${types.join(', ')}`,
    examples: [types.slice(0, 2).join(',')],
  })

/** A query parameter with addresses. */
export const StablesQuery = list(Address, 40).meta({
  description:
    'Only events about these stables: addresses separated by commas. A flow matches at either end. Events about the service itself are always included.',
})

/** A position in the log of events. */
export const Sequence = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
  .meta({ description: '`sequence` of the last event that you have; 0 for the beginning of the log', examples: ['0'] })

/** Throws a 404 if one of the addresses is not a tracked stable. */
export async function requireStables(app: FastifyInstance, addresses: readonly string[] = []): Promise<void> {
  for (const address of addresses)
    if (!(await app.stables.has(address)))
      throw new NotFoundError('unknown-stable', `${address} is not a tracked stable`, 'stable')
}

const EventsResponse = z.object({
  events: z.array(EventShape).meta({ description: 'In the order in which they were recorded, oldest first' }),
  next_after: z.int().meta({ description: 'The `after` of the next request, even if there are no more events yet' }),
  ...searchedShape('Every event of the requested types is in the log'),
  coverage: Coverage,
  has_more: z.boolean().meta({ description: 'Whether there is another page already' }),
  as_of: PastEcho,
  known_at: KnownAtEcho,
})

/** Throws if the log has not reached this position: the caller would miss events until it does. */
export function requireReached(parameter: string, after: number, newest: number): void {
  if (after > newest) throw new BadParameterError(parameter, `is beyond the newest event, ${newest}`)
}

/** The position before the first event that was recorded at `since` or later, at most `until`. Throws BadParameterError. */
async function sequenceBefore(app: FastifyInstance, since: string, until: number, options: { signal: AbortSignal }) {
  const from = parseInstant('since', since, app.now())
  // Events are recorded at milliseconds.
  const before = await newestSequenceBy(
    app.clickhouse,
    { known_at: new Date(Math.max(from.getTime() - 1, 0)) },
    options,
  )
  return Math.min(before, until)
}

type Type = (typeof EVENT_TYPES)[number]

/** The facts in which events of some kinds are found, and the jobs that find them. */
const SOURCES: readonly {
  kinds: readonly string[]
  families: readonly Family[]
  jobs: readonly JobName[]
  isPriced: boolean
}[] = [
  { kinds: ['peg_break.'], families: ['pegs'], jobs: ['peg-events'], isPriced: false },
  { kinds: ['agreed_break.', 'peg_quote.'], families: ['pegs'], jobs: ['peg-tracks'], isPriced: false },
  { kinds: ['flow_anomaly.'], families: ['logs'], jobs: ['flow-anomalies'], isPriced: true },
  { kinds: ['unusual_flow.'], families: ['logs'], jobs: ['unusual-flows'], isPriced: true },
]

/** Those of events of some types. Without types, or with others, those of all. */
function sourcesOf(types: readonly Type[] = EVENT_TYPES) {
  const ofType = (type: Type) => SOURCES.find(({ kinds }) => kinds.some((kind) => type.startsWith(kind)))
  const sources = types.every(ofType)
    ? SOURCES.filter((source) => types.some((type) => ofType(type) === source))
    : SOURCES
  return {
    families: [...new Set(sources.flatMap(({ families }) => families))],
    logsOf: OF_FLOWS,
    jobs: sources.flatMap(({ jobs }) => jobs),
    isPriced: sources.some(({ isPriced }) => isPriced),
  }
}

export const eventsRoute = endpoint({
  path: '/events',
  tag: 'events',
  operationId: 'listEvents',
  summary: 'Peg breaks, lost quotes, flow anomalies and the health of the service, as webhooks deliver them',
  description:
    'An append-only log. With `after` or `since`, returns the events that follow, oldest first: continue with `next_after`, and ' +
    'you miss no event and get none twice. Without them, returns the newest events, in the same order. With `as_of`, only those ' +
    'that had occurred by then, whenever they were found. `severity`, `min_bps`, `min_seconds` and `min_size` filter peg breaks by what each event ' +
    'says; other events pass.',
  about: 'moment',
  query: {
    after: Sequence.optional(),
    since: z
      .string()
      .optional()
      .meta({
        description:
          'Instead of `after`: begin with the first event that was recorded at this time or later; in the formats of `as_of`',
        examples: ['2026-07-01T00:00:00Z', '24h'],
      }),
    types: TypesQuery(EVENT_TYPES),
    stable: StablesQuery,
    ...BreakFilterQuery,
    limit: LimitQuery,
    ...AsOfQuery,
    ...KnownAtQuery,
  },
  response: EventsResponse,
  problems: [400, 404, 503],
  covers: ({ at, query: { types } }) => ({ ...sourcesOf(types), ...allUntil(at) }),
  answer: async ({ app, at, knownAt, coverage, searches, query, signal }) => {
    const { since, types, stable: stables, limit, severity, min_bps, min_seconds, min_size } = query
    if (since !== undefined && query.after !== undefined)
      throw new BadParameterError('since', 'must not be combined with after')
    // Whether a stable is tracked may have become known later.
    if (knownAt === null) await requireStables(app, stables)
    const searched = { ...searchedFields(searches, at, coverage), coverage }
    // Read before the page, so that events recorded in between are left for the next one.
    const until = knownAt
      ? await newestSequenceBy(app.clickhouse, { known_at: knownAt }, { signal })
      : await newestSequence(app.clickhouse, { signal })
    const after = since === undefined ? query.after : await sequenceBefore(app, since, until, { signal })
    const occurred_by = query.as_of === undefined ? undefined : at
    const selection = { until, types, stables, severity, min_bps, min_seconds, min_size, occurred_by }
    if (after === undefined) {
      const rows = await newestEvents(app.clickhouse, { ...selection, limit }, { signal })
      return { events: rows.reverse().map(shapedEvent), next_after: until, ...searched, has_more: false }
    }
    requireReached('after', after, until)
    const rows = await eventsAfter(app.clickhouse, { ...selection, after, limit: limit + 1 }, { signal })
    const has_more = rows.length > limit
    const events = rows.slice(0, limit)
    const last = events.at(-1)?.sequence ?? until
    return { events: events.map(shapedEvent), next_after: has_more ? last : until, ...searched, has_more }
  },
})
