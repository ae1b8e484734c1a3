import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { historyStart } from '../../clickhouse/chain/history-start.js'
import { isoSeconds, parseAsOf } from '../../process/instants.js'
import { NotFoundError } from '../http/errors.js'

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
  const [history] = await historyStart(app.clickhouse, {}, options)
  if (!history || asOf < history.started_at) throw beforeHistory(asOf)
}
