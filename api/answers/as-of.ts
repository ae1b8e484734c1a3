import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { LONGEST_PEG_WINDOW } from '../../clickhouse/peg/windows.js'
import { isoSeconds, parseAsOf, parseInstant } from '../../process/instants.js'
import type { Memories } from '../../process/memory.js'
import { NotFoundError } from '../http/errors.js'
import { QUERY_TIMEOUT_MS } from './query-signal.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The instant that the request is about; null if it is about now. Set before the handler of an endpoint. */
    asOf: Date | null
    /** The instant by which the answer was published; null if it is what is known by now. Set with `asOf`. */
    knownAt: Date | null
  }
}

/** The query parameter of every route that can answer about the past; spread into the route's own parameters. */
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

/** The echo of `as_of` in answers that contain it only if it was requested. */
export const PastEcho = z.iso
  .datetime()
  .optional()
  .meta({ description: 'The requested point in time; not in live answers' })

/**
 * The instants that a request is about; null for now. `knownAt` stands for an omitted `as_of`. Throws
 * BadParameterError.
 */
export function readInstants(
  app: FastifyInstance,
  { as_of, known_at }: { as_of?: string | undefined; known_at?: string | undefined },
): { asOf: Date | null; knownAt: Date | null } {
  const knownAt = known_at === undefined ? null : parseInstant('known_at', known_at, app.now())
  return { asOf: as_of === undefined ? knownAt : parseAsOf(as_of, app.now()), knownAt }
}

/** Now, in whole seconds, the chain's unit of time. */
export const thisSecond = (app: FastifyInstance): Date => new Date(Math.floor(app.now().getTime() / 1000) * 1000)

/** The instant of an answer: `at` in whole seconds; `asOf` is the same if it was requested, null in a live answer. */
export type Moment = { at: Date; asOf: Date | null }

/** The window of a length that ends at an instant, (at - length, at], as unix seconds that are both included. */
export function lastSeconds(at: Date, length: number): { from: number; to: number } {
  const to = at.getTime() / 1000
  return { from: to - length + 1, to }
}

/**
 * What an answer about the state at an instant is about, in seconds: the longest time between two reads of a state or of a
 * depth.
 */
export const STATE_SECONDS = 300

/** All of history up to an instant, as unix seconds that are both included. */
export const allUntil = (at: Date): { from: number; to: number } => ({ from: 0, to: at.getTime() / 1000 })

/** The start of history in words, with its time if there is a block. */
export const startOfHistory = (start: Date | null): string =>
  start === null ? 'the start of history: no block has been read yet' : `the start of history, ${isoSeconds(start)}`

/** The 404 for an instant before `what`, about which nothing is known. */
export function beforeHistory(asOf: Date, what: string): NotFoundError {
  return new NotFoundError('before-history', `as_of ${isoSeconds(asOf)} is before ${what}`, 'as_of')
}

/** The windows of an answer reach back this far, and a DateTime cannot hold times before 1970. */
const EARLIEST_MS = LONGEST_PEG_WINDOW * 1000

/**
 * The instant of an answer. Throws a 404 for a time before the first block, or if there is no block. With `knownAt`, the
 * reader finds out what was known by then: the first block may have been read later.
 */
export async function momentOf(
  app: FastifyInstance,
  { asOf, knownAt }: Pick<FastifyRequest, 'asOf' | 'knownAt'>,
): Promise<Moment> {
  if (asOf === null) return { at: thisSecond(app), asOf }
  if (knownAt !== null) {
    if (Math.min(asOf.getTime(), knownAt.getTime()) < EARLIEST_MS)
      throw notPublished('an answer about that time', knownAt)
    return { at: asOf, asOf }
  }
  if (!(await app.history.hasBegunBy(asOf)) || asOf.getTime() < EARLIEST_MS)
    throw beforeHistory(asOf, startOfHistory(app.history.start()))
  return { at: asOf, asOf }
}

/** The 404 if `what` had not been published by an instant. */
export const notPublished = (what: string, knownAt: Date): NotFoundError =>
  new NotFoundError('before-history', `${what} had not been published by ${isoSeconds(knownAt)}`, 'known_at')

/** The start of history. */
export type HistoryStart = {
  /** Whether there is a block at or before an instant. */
  hasBegunBy: (instant: Date) => Promise<boolean>
  /** The start, as of the last read; null before there is one. */
  start: () => Date | null
}

/**
 * The time of the first block that `read` returns (null before there is one), kept so that requests about the past need
 * no look-up. A look-up may take as long as any query of a request.
 */
export function createHistoryStart(
  read: (options: { signal: AbortSignal }) => Promise<Date | null>,
  memories: Memories,
): HistoryStart {
  const latest = memories.latest<{ start: Date | null }>({
    name: 'history_start',
    holds: 'the time of the first block',
    until: 'an answer about an earlier time: backfills only move it back',
    read: async () => ({ start: await read({ signal: AbortSignal.timeout(QUERY_TIMEOUT_MS) }) }),
  })
  return {
    hasBegunBy: async (instant) => {
      const isIn = ({ start }: { start: Date | null }): boolean => start !== null && instant >= start
      return isIn(await latest.get(isIn))
    },
    start: () => latest.value?.start ?? null,
  }
}

/**
 * The 404 if there is no snapshot called `what` by then: they begin later or were published later, a reorganization took
 * them back, or there are none at all.
 */
export function noSnapshot(what: string, { asOf, knownAt }: Pick<FastifyRequest, 'asOf' | 'knownAt'>): NotFoundError {
  const note = `${what} history is append-only; it begins after the first block that was read in which the stable was in use, on the token list or with a pair on the exchange, and a backfill of older blocks adds to it`
  if (asOf === null)
    return new NotFoundError('before-history', `there is no ${what} snapshot of this stable yet: ${note}`)
  if (knownAt !== null) {
    const message = `by ${isoSeconds(knownAt)} no ${what} snapshot of this stable as of ${isoSeconds(asOf)} or earlier had been published`
    return new NotFoundError('before-history', message, 'known_at')
  }
  const message = `there is no ${what} snapshot of this stable as of ${isoSeconds(asOf)} or earlier: ${note}`
  return new NotFoundError('before-history', message, 'as_of')
}

/**
 * The instant up to which the newest snapshot called `what` is wanted. Throws a 404 for a time before 1970, where a
 * DateTime begins; the reader finds out whether there is a snapshot by then.
 */
export function snapshotMomentOf(
  app: FastifyInstance,
  { asOf, knownAt }: Pick<FastifyRequest, 'asOf' | 'knownAt'>,
  what: string,
): Moment {
  for (const instant of [asOf, knownAt])
    if (instant !== null && instant.getTime() < 0) throw noSnapshot(what, { asOf, knownAt })
  return { at: asOf ?? thisSecond(app), asOf }
}
