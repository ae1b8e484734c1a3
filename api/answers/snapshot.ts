import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isoSeconds } from '../../process/instants.js'
import { NotFoundError } from '../http/errors.js'
import { requireStable } from '../stablecoins/stable.js'
import { AS_OF_HEADER, readAsOf, thisSecond } from './as-of.js'
import { querySignal } from './query-signal.js'

type SnapshotRequest = FastifyRequest & { params: { address: string }; query: { as_of?: string | undefined } }

type ReadSnapshot<Row> = (
  clickhouse: ClickHouseClient,
  params: { stable: string; as_of: Date },
  options: { signal: AbortSignal },
) => Promise<Row | null>

function noSnapshot(what: string, asOf: Date | null): NotFoundError {
  const note = `${what} history is append-only, and is not filled in for the time before its first snapshot`
  if (asOf === null) return new NotFoundError('before-history', `there is no ${what} snapshot of it yet: ${note}`)
  const message = `as_of ${isoSeconds(asOf)} is before the start of history of its ${what}: ${note}`
  return new NotFoundError('before-history', message, 'as_of')
}

/**
 * The newest snapshot of a request's stable at or before the instant that it is about, which a header repeats. Live is
 * as of now. Throws the 404 of an address that is no stable's, and the one of a time before the first snapshot, with a
 * note that names `what`.
 */
export async function readSnapshot<Row>(
  app: FastifyInstance,
  { request, reply, what }: { request: SnapshotRequest; reply: FastifyReply; what: 'risk' | 'reserves' },
  read: ReadSnapshot<Row>,
): Promise<Row> {
  const stable = request.params.address
  const asOf = readAsOf(app, request.query)
  await requireStable(app, stable)
  const as_of = asOf ?? thisSecond(app)
  // A DateTime begins in 1970.
  if (as_of.getTime() < 0) throw noSnapshot(what, asOf)
  const row = await read(app.clickhouse, { stable, as_of }, { signal: querySignal(request) })
  if (row === null) throw noSnapshot(what, asOf)
  if (asOf) reply.header(AS_OF_HEADER, isoSeconds(asOf))
  return row
}
