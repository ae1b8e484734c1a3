import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { isoSeconds, parseAsOf, WEEK_MS } from '../../process/instants.js'
import { NotFoundError } from '../http/errors.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The instant that the request asks about; null when it asks about now. Set before the handler of an endpoint. */
    asOf: Date | null
  }
}

/** The query parameter of every route that can answer about the past; spread into the route's own. */
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

/** The instant that a request asks about, null when it asks about now. Throws BadParameterError. */
export function readAsOf(app: FastifyInstance, { as_of }: { as_of?: string | undefined }): Date | null {
  return as_of === undefined ? null : parseAsOf(as_of, app.now())
}

/** Now, in whole seconds, which is what the chain counts in. */
export const thisSecond = (app: FastifyInstance): Date => new Date(Math.floor(app.now().getTime() / 1000) * 1000)

/** What an answer is about: `at` in whole seconds; `asOf` is the same where it was asked for, null in a live answer. */
export type Moment = { at: Date; asOf: Date | null }

/** The 404 for an instant of which nothing can be known, because it is before `what`. */
export function beforeHistory(asOf: Date, what = 'the start of history'): NotFoundError {
  return new NotFoundError('before-history', `as_of ${isoSeconds(asOf)} is before ${what}`, 'as_of')
}

/** The moment that an answer is about. Throws the 404 of a time before the first block, or without any block. */
export async function momentOf(app: FastifyInstance, asOf: Date | null): Promise<Moment> {
  if (asOf === null) return { at: thisSecond(app), asOf }
  // A DateTime cannot hold the week before, which the windows of an answer begin with.
  if (asOf.getTime() < WEEK_MS || !(await app.history.hasBegunBy(asOf))) throw beforeHistory(asOf)
  return { at: asOf, asOf }
}

/** What is known of the start of history. */
export type KnownHistory = {
  /** Whether there is a block at or before an instant. Reads the start again for an instant before the one it knows. */
  hasBegunBy: (instant: Date) => Promise<boolean>
}

/**
 * Remembers the time of the first block that `read` returns, null before there is one, so that a request about the past
 * needs no look-up: backfills only ever move it back. All who wait for a look-up wait for the same.
 */
export function createKnownHistory(read: () => Promise<Date | null>): KnownHistory {
  let start: Date | null = null
  let reading: Promise<void> | null = null
  const refresh = (): Promise<void> => {
    reading ??= read()
      .then((found) => {
        start = found
      })
      .finally(() => {
        reading = null
      })
    return reading
  }
  const isIn = (instant: Date): boolean => start !== null && instant >= start
  return {
    hasBegunBy: async (instant) => {
      if (!isIn(instant)) await refresh()
      return isIn(instant)
    },
  }
}

/** The 404 where the history of snapshots called `what` has none by then, or none at all. */
export function noSnapshot(what: string, asOf: Date | null): NotFoundError {
  const note = `${what} history is append-only and begins with the first snapshot; it is not backfilled`
  if (asOf === null)
    return new NotFoundError('before-history', `there is no ${what} snapshot of this stable yet: ${note}`)
  const message = `as_of ${isoSeconds(asOf)} is before the start of history of its ${what}: ${note}`
  return new NotFoundError('before-history', message, 'as_of')
}

/**
 * The moment up to which the newest snapshot of the history called `what` is wanted. Throws the 404 of a time before
 * 1970, where a DateTime begins; whether there is a snapshot by then is for its reader to find out.
 */
export function snapshotMomentOf(app: FastifyInstance, asOf: Date | null, what: string): Moment {
  if (asOf !== null && asOf.getTime() < 0) throw noSnapshot(what, asOf)
  return { at: asOf ?? thisSecond(app), asOf }
}
