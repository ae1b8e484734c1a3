import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { BadParameterError } from '../../process/errors.js'
import { scopeOf } from '../callers/payments/terms.js'

const DESCRIPTION = 'Where to continue: `next_cursor` of the previous page; repeat its other parameters'

/** undefined for invalid JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A query parameter that continues after the row with a given sort key: base64url of its values as JSON, a dot, and what
 * list it is of.
 */
export function CursorQuery<Key extends z.ZodType>(key: Key) {
  return z
    .string()
    .max(1000)
    .transform((text, context): z.output<Key> => {
      const read = key.safeParse(readJson(Buffer.from(text.split('.', 1)[0] as string, 'base64url').toString()))
      if (read.success) return read.data
      context.addIssue('is not a cursor of this list')
      return z.NEVER
    })
    .optional()
    .meta({ description: DESCRIPTION })
}

/**
 * The parameters that may change from page to page: what chooses a page or how it is written, and the instants, because a
 * relative one of the first page is best repeated as the answer echoes it.
 */
const OF_A_PAGE = new Set(['cursor', 'limit', 'format', 'null', 'provenance', 'as_of', 'known_at'])

/** What a request lists: a digest of its route, and of its other parameters. */
function listOf({ routeOptions: { url = '' }, params, query }: FastifyRequest): string {
  const asked = Object.entries(query as object).filter(([name]) => !OF_A_PAGE.has(name))
  return scopeOf(url, [url, params], Object.fromEntries(asked)).slice(-DIGEST_LENGTH)
}

/** Enough to tell lists apart: a cursor is not a secret. */
const DIGEST_LENGTH = 8

/** Throws BadParameterError if the cursor of a request is of another list, or of other parameters. */
export function requireOwnCursor(request: FastifyRequest): void {
  if ((request.query as { cursor?: unknown }).cursor === undefined) return
  const cursor = new URL(request.raw.url as string, 'http://localhost').searchParams.get('cursor')
  if (cursor?.split('.')[1] !== listOf(request))
    throw new BadParameterError(
      'cursor',
      'is of another list or of other parameters: repeat those of the page that returned it',
    )
}

/** The next cursor of a page of what the request lists, from that of `page`. */
export const nextCursor = (request: FastifyRequest, next: string | null): string | null =>
  next === null ? null : `${next}.${listOf(request)}`

/** Binds the cursors of routes to their lists; those made by `endpoint` bind theirs themselves. */
export function boundCursors(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => requireOwnCursor(request))
  app.addHook('preSerialization', async (request, _, payload) => {
    const { next_cursor } = (payload ?? {}) as { next_cursor?: string | null }
    return next_cursor ? { ...(payload as object), next_cursor: nextCursor(request, next_cursor) } : payload
  })
}

/** The response field that goes with it. */
export const NextCursor = z.string().nullable().meta({ description: 'The `cursor` of the next page; null at the end' })

/** The most rows of a list in an answer. */
export const MOST_ROWS = 500

/** How many rows of a list an answer has. */
export const LimitQuery = z.coerce
  .number()
  .int()
  .min(1)
  .max(MOST_ROWS)
  .default(50)
  .meta({ description: 'Maximum number of rows in an answer' })

/**
 * Makes a page from up to `limit` + 1 rows: the rows, and the cursor of the next page, if there is one, made from the
 * key of the last row.
 */
export function page<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => unknown) {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const next_cursor =
    rows.length > limit && last !== undefined ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null
  return { rows: shown, next_cursor }
}
