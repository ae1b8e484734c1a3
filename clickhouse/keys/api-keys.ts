import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime, unixSeconds } from '../store/values.js'

/** A version of a key; the columns are described in clickhouse/schema. */
export type ApiKeyVersion = {
  id: string
  label: string
  prefix: string
  hash: string
  scopes: readonly string[]
  /** 0: no limit. */
  requests_per_minute: number
  created_at: Date
  revoked_at: Date | null
}

const CREATED = 1
const REVOKED = 2

/** Adds a key, or revokes it if it has a `revoked_at`. Repeating either changes nothing. */
export function insertApiKey(clickhouse: ClickHouseClient, key: ApiKeyVersion): Promise<void> {
  const version = key.revoked_at === null ? CREATED : REVOKED
  const row = {
    ...key,
    version,
    created_at: unixSeconds(key.created_at),
    revoked_at: key.revoked_at && unixSeconds(key.revoked_at),
  }
  return insertRows(clickhouse, 'api_keys', [row], `${key.id}:${version}`)
}

/** Records when keys were last used. `token` identifies the batch. */
export function insertApiKeyUses(
  clickhouse: ClickHouseClient,
  uses: ReadonlyMap<string, Date>,
  token: string,
): Promise<void> {
  const rows = [...uses].map(([id, used_at]) => ({ id, used_at: unixSeconds(used_at) }))
  return insertRows(clickhouse, 'api_key_uses', rows, token)
}

/**
 * The position at which a page of keys, newest first, continues: after the key created at this time, in milliseconds,
 * with this id.
 */
export const ApiKeyPosition = z.tuple([z.int().nonnegative(), z.string().max(100)])

const ApiKey = z.object({
  id: z.string(),
  label: z.string(),
  prefix: z.string(),
  hash: z.string(),
  scopes: z.array(z.string()),
  requests_per_minute: z.int(),
  created_at: dateTime,
  revoked_at: dateTime.nullable(),
})
export type ApiKey = z.infer<typeof ApiKey>

const NEWEST_VERSION = `
  SELECT id, argMax(label, version) AS label, argMax(prefix, version) AS prefix, argMax(hash, version) AS hash,
         argMax(scopes, version) AS scopes, argMax(requests_per_minute, version) AS requests_per_minute,
         min(created_at) AS created_at, min(api_keys.revoked_at) AS revoked_at
  FROM api_keys`

/** The key with an id, or null. */
export const apiKey = defineOptionalRow({
  name: 'api_key',
  params: z.object({ id: z.string() }),
  row: ApiKey,
  sql: `${NEWEST_VERSION} WHERE id = {id: String} GROUP BY id`,
})

/** All keys that are not revoked. */
export const activeApiKeys = defineQuery({
  name: 'active_api_keys',
  row: ApiKey,
  sql: `${NEWEST_VERSION} GROUP BY id HAVING revoked_at IS NULL`,
})

/**
 * Keys, including revoked ones, newest first, at most `limit` of those after a position; `last_used_at` is accurate to
 * the minute.
 */
export const listedApiKeys = defineQuery({
  name: 'listed_api_keys',
  params: z
    .object({ limit: z.int(), after: ApiKeyPosition.default([Number.MAX_SAFE_INTEGER, '']) })
    .transform(({ limit, after: [after_ms, after_id] }) => ({ limit, after_ms, after_id })),
  row: ApiKey.extend({ last_used_at: dateTime.nullable() }),
  sql: `
    SELECT id, label, prefix, hash, scopes, requests_per_minute, created_at, revoked_at,
           nullIf(used_at, toDateTime64(0, 3, 'UTC')) AS last_used_at
    FROM (${NEWEST_VERSION} GROUP BY id) AS keys
    LEFT JOIN (SELECT id, max(api_key_uses.used_at) AS used_at FROM api_key_uses GROUP BY id) AS uses USING (id)
    WHERE (toUnixTimestamp64Milli(created_at), id) < ({after_ms: Int64}, {after_id: String})
    ORDER BY created_at DESC, id DESC
    LIMIT {limit: UInt32}`,
})
