import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isoSeconds } from '../../process/instants.js'
import { requireStable } from '../stablecoins/stable-params.js'
import { AS_OF_HEADER, beforeHistory, readAsOf, requireHistory } from './as-of-query.js'
import { querySignal } from './query-signal.js'

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
export type Moment = { at: Date; as_of: string | null }

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
