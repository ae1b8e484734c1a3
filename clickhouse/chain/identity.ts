import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
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

/** The chain that this database is about; nothing before the first ingest. */
export const chainIdentity = defineQuery({
  name: 'chain_identity',
  params: z.object({}),
  row: z.object({ chain_id: z.int(), genesis_hash: z.string() }),
  sql: 'SELECT toUInt32(chain_id) AS chain_id, genesis_hash FROM chain_identity',
})
