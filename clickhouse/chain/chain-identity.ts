import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** Which chain a database is about. */
export type ChainIdentity = { chain_id: number; genesis_hash: string }

/** Names the chain of an empty database. Of several that carry one token, for whatever chain, the first one stays. */
export function insertChainIdentity(
  clickhouse: ClickHouseClient,
  identity: ChainIdentity,
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'chain_identity', [identity], token)
}
