import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import { unixSeconds } from '../store/values.js'

/** A version of a key, as the migration describes it. */
export type ApiKeyVersion = {
  id: string
  label: string
  prefix: string
  hash: string
  scopes: readonly string[]
  requests_per_minute: number
  created_at: Date
  revoked_at: Date | null
}

const MADE = 1
const REVOKED = 2

/** Adds a key, or revokes it where it has a `revoked_at`. Each happens once: a repeat changes nothing. */
export function insertApiKey(clickhouse: ClickHouseClient, key: ApiKeyVersion): Promise<void> {
  const version = key.revoked_at === null ? MADE : REVOKED
  const row = {
    ...key,
    version,
    created_at: unixSeconds(key.created_at),
    revoked_at: key.revoked_at && unixSeconds(key.revoked_at),
  }
  return insertRows(clickhouse, 'api_keys', [row], `${key.id}:${version}`)
}

/** Records when keys were last used. `token` names the batch. */
export function insertApiKeyUses(
  clickhouse: ClickHouseClient,
  uses: ReadonlyMap<string, Date>,
  token: string,
): Promise<void> {
  const rows = [...uses].map(([id, used_at]) => ({ id, used_at: unixSeconds(used_at) }))
  return insertRows(clickhouse, 'api_key_uses', rows, token)
}
