import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { historyStart } from '../../clickhouse/chain/history.js'
import { isoSeconds, parseAsOf } from '../../process/instants.js'
import { NotFoundError } from '../http/errors.js'
import { requireStable } from '../stablecoins/stable.js'
import { querySignal } from './query-signal.js'

/** The query parameter of every route that can answer about the past; spread into the route's strict object. */
export const AsOfQuery = {
  as_of: z
    .string()
    .optional()
    .meta({
      description:
        'A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now',
      examples: ['2026-07-01T12:00:00Z', '2026-07-01', '1782907200', '30m', '24h', '7d'],
    }),
}

/** The response header that repeats the requested instant. */
export const AS_OF_HEADER = 'x-service-as-of'

/** The instant that a request is about, null when it is about now. Throws BadParameterError. */
export function readAsOf(app: FastifyInstance, { as_of }: { as_of?: string | undefined }): Date | null {
  return as_of === undefined ? null : parseAsOf(as_of, app.now())
}

/** The 404 for an instant of which nothing can be known, because it is before `what`. */
export function beforeHistory(asOf: Date, what = 'the start of history'): NotFoundError {
  return new NotFoundError('before-history', `as_of ${isoSeconds(asOf)} is before ${what}`, 'as_of')
}

/** Throws the 404 when `asOf` is before the first block that is in, or there is none. */
export async function requireHistory(
  app: FastifyInstance,
  asOf: Date,
  options: { signal: AbortSignal },
): Promise<void> {
  const start = await historyStart(app.clickhouse, options)
  if (!start || asOf < start) throw beforeHistory(asOf)
}

/** The echo of `as_of` in answers that always have it. */
export const AsOfEcho = z.iso
  .datetime()
  .nullable()
  .meta({ description: 'The requested point in time; null in live answers' })

/** The echo of `as_of` in answers that have it only where it was asked for. */
export const PastEcho = z.iso
  .datetime()
  .optional()
  .meta({ description: 'The requested point in time; not in live answers' })

/** What an answer is about: `at` in whole seconds; `as_of` is the echo of the parameter, null in a live answer. */
type Moment = { at: Date; as_of: string | null }

/** Where `as_of` may not lie: a DateTime cannot hold a week before it. */
const WEEK_MS = 604_800_000

/** Now, in whole seconds, which is what the chain counts in. */
export const thisSecond = (app: FastifyInstance): Date => new Date(Math.floor(app.now().getTime() / 1000) * 1000)

type AsOfRequest = FastifyRequest & { query: { as_of?: string | undefined } }

/**
 * The instant that a request is about, for routes where now is a point in time like any other: the reply's header echoes
 * one that was asked for. Throws the 400 of a parameter that is no point in the past, the 404 of an `address` that is no
 * stable's, and the 404 of a time before the first block.
 */
export async function readMoment(
  app: FastifyInstance,
  request: AsOfRequest,
  reply: FastifyReply,
  address?: string,
): Promise<Moment> {
  const at = readAsOf(app, request.query)
  if (address !== undefined) await requireStable(app, address)
  if (at === null) return { at: thisSecond(app), as_of: null }
  if (at.getTime() < WEEK_MS) throw beforeHistory(at)
  await requireHistory(app, at, { signal: querySignal(request) })
  const as_of = isoSeconds(at)
  reply.header(AS_OF_HEADER, as_of)
  return { at, as_of }
}
