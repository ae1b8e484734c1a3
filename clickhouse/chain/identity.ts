import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, onlyColumn } from '../store/define-query.js'
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

const chain_identity = {
  name: 'chain_identity',
  sql: 'SELECT toUInt32(chain_id) AS chain_id, genesis_hash FROM chain_identity',
}

/** The chain that this database is about; none before the first ingest, several where two were first at the same time. */
export const chainIdentities = defineQuery({
  ...chain_identity,
  row: z.object({ chain_id: z.int(), genesis_hash: z.string() }),
})

/** The id of the chain that this database is about; null before the first ingest. */
export const databaseChainId = defineOptionalRow({ ...chain_identity, row: onlyColumn('chain_id', z.int()) })
