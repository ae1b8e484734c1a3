import type { ClickHouseClient } from '@clickhouse/client'
import { hashOf, KeyScope, newApiKey, prefixOf } from '../../api/callers/keys/api-key.js'
import { type ApiKeyVersion, insertApiKey } from '../../clickhouse/keys/api-keys.js'

/** Adds a key as the admin route would, with defaults for omitted fields. Returns the key and its row. */
export async function addApiKey(
  clickhouse: ClickHouseClient,
  given: Partial<ApiKeyVersion> & { key?: string } = {},
): Promise<ApiKeyVersion & { key: string }> {
  const made = { ...newApiKey(), ...given }
  const row = {
    label: 'of a test',
    scopes: KeyScope.options,
    requests_per_minute: 6000,
    created_at: new Date('2026-07-01T00:00:00.123Z'),
    revoked_at: null,
    prefix: prefixOf(made.key),
    hash: hashOf(made.key),
    ...made,
  }
  const { key, ...version } = row
  await insertApiKey(clickhouse, version)
  return row
}
