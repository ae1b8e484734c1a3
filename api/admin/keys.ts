import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type ApiKey, ApiKeyPosition, apiKey, insertApiKey, listedApiKeys } from '../../clickhouse/keys/api-keys.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../answers/cursor.js'
import { querySignal } from '../answers/query-signal.js'
import { hashOf, KeyScope, newApiKey, prefixOf } from '../callers/keys/api-key.js'
import { NotFoundError } from '../http/errors.js'
import { problemResponses } from '../http/problem.js'

const MOST_REQUESTS = 1_000_000

const RequestsPerMinute = z.int().min(1).max(MOST_REQUESTS)

const KeyShape = z.object({
  id: z.string().meta({ description: 'Identifies the key; gives no access', examples: ['key_6f1d0b9a52c3e874'] }),
  label: z.string().meta({ description: 'Whose key this is, or what it is for' }),
  prefix: z.string().meta({ description: 'The first characters of the key, to distinguish it from others' }),
  scopes: z.array(z.string()).meta({ description: 'What it gives access to besides the free routes' }),
  requests_per_minute: z
    .int()
    .nullable()
    .meta({ description: 'Rate limit; requests above it are refused with 429. null: no limit' }),
  created_at: z.iso.datetime().meta({ description: 'When it was created' }),
  revoked_at: z.iso.datetime().nullable().meta({ description: 'When it was revoked; null while it is valid' }),
})

const NewKey = z.strictObject({
  label: z
    .string()
    .trim()
    .min(1)
    .max(100)
    // A lone surrogate is not valid text and could not be stored.
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters')
    .meta({ description: 'Whose key this is, or what it is for' }),
  scopes: z
    .array(KeyScope)
    .max(KeyScope.options.length)
    .transform((scopes) => [...new Set(scopes)])
    .default(KeyScope.options)
    .meta({ description: 'What it gives access to besides the free routes; everything if omitted' }),
  requests_per_minute: RequestsPerMinute.nullish().meta({
    description: 'Rate limit; null: none. If omitted, KEY_REQUESTS_PER_MINUTE, which is no limit by default',
  }),
})

/** How a key without a limit is stored. */
const NO_LIMIT = 0

const published = ({ id, label, prefix, scopes, requests_per_minute, created_at, revoked_at }: ApiKey) => ({
  id,
  label,
  prefix,
  scopes,
  requests_per_minute: requests_per_minute === NO_LIMIT ? null : requests_per_minute,
  created_at: created_at.toISOString(),
  revoked_at: revoked_at?.toISOString() ?? null,
})

const ADMIN = { tier: 'admin' } as const
const shared = { tags: ['admin'], security: [{ admin: [] }] }

const createSchema = {
  ...shared,
  operationId: 'createKey',
  summary: 'Create a key, which is returned in this answer only',
  description: 'Only a hash of the key is stored: if you lose the key, create another one.',
  body: NewKey,
  response: {
    201: KeyShape.extend({ key: z.string().meta({ description: 'The key itself, for Authorization: Bearer' }) }),
    ...problemResponses(400, 401, 403, 413, 415, 503),
  },
}

const listSchema = {
  ...shared,
  operationId: 'listKeys',
  summary: 'All keys, newest first, without the keys themselves',
  description: 'Includes revoked keys, and when each key was last used.',
  querystring: z.strictObject({ limit: LimitQuery, cursor: CursorQuery(ApiKeyPosition) }),
  response: {
    200: z.object({
      keys: z
        .array(
          KeyShape.extend({
            last_used_at: z.iso
              .datetime()
              .nullable()
              .meta({ description: 'When it was last used, up to a minute late; null before the first use' }),
          }),
        )
        .meta({ description: 'The newest first' }),
      next_cursor: NextCursor,
    }),
    ...problemResponses(400, 401, 403, 503),
  },
}

const revokeSchema = {
  ...shared,
  operationId: 'revokeKey',
  summary: 'Revoke a key, which every process refuses within 5 seconds',
  description: 'It stays in the list. Revoking it again changes nothing.',
  params: z.object({
    id: z
      .string()
      .max(100)
      .meta({
        description: 'The id returned when it was created, and in the list',
        examples: ['key_6f1d0b9a52c3e874'],
      }),
  }),
  response: { 200: KeyShape, ...problemResponses(400, 401, 403, 404, 503) },
}

/**
 * Creates, lists and revokes keys. A key is returned only once, when it is created, because only its hash is stored.
 */
export const adminKeysRoutes =
  (keyRequestsPerMinute: number): FastifyPluginAsyncZod =>
  async (app) => {
    app.addHook('onRequest', async (_, reply) => {
      reply.header('cache-control', 'no-store')
    })

    app.post('/keys', { schema: createSchema, config: ADMIN }, async (request, reply) => {
      const { requests_per_minute: limitPerMinute = keyRequestsPerMinute, ...fields } = request.body
      const { id, key } = newApiKey()
      const made = {
        id,
        ...fields,
        prefix: prefixOf(key),
        hash: hashOf(key),
        requests_per_minute: limitPerMinute ?? NO_LIMIT,
      }
      const row = { ...made, created_at: app.now(), revoked_at: null }
      await insertApiKey(app.records, row)
      app.keys.expire()
      request.log.info({ key: id }, 'a key was created')
      return reply.code(201).send({ ...published(row), key })
    })

    app.get('/keys', { schema: listSchema, config: ADMIN }, async (request) => {
      const { limit, cursor: after } = request.query
      const listed = await listedApiKeys(app.clickhouse, { limit: limit + 1, after }, { signal: querySignal(request) })
      const { rows, next_cursor } = page(listed, limit, ({ created_at, id }) => [created_at.getTime(), id])
      const keys = rows.map(({ last_used_at, ...key }) => ({
        ...published(key),
        last_used_at: last_used_at?.toISOString() ?? null,
      }))
      return { keys, next_cursor }
    })

    app.delete('/keys/:id', { schema: revokeSchema, config: ADMIN }, async (request) => {
      const { id } = request.params
      const read = () => apiKey(app.clickhouse, { id }, { signal: querySignal(request) })
      const key = await read()
      if (key === null) throw new NotFoundError('unknown-key', 'there is no key with this id', 'id')
      if (key.revoked_at === null) {
        await insertApiKey(app.records, { ...key, revoked_at: app.now() })
        request.log.info({ key: id }, 'a key was revoked')
      }
      app.keys.expire()
      // Another request may have revoked it first.
      return published((await read()) ?? key)
    })
  }
