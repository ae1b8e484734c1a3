import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, onlyColumn, type ReadOptions } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { keptWhile } from '../store/read-memory.js'
import { shared } from '../store/together.js'

/** The chain whose data a database holds. */
export type ChainIdentity = { chain_id: number; genesis_hash: string }

/**
 * Records the chain of an empty database. Of several inserts with the same token, whatever their chain, only the first
 * is stored.
 */
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

/**
 * The chain of this database; empty before the first ingest, several rows if two processes recorded the first one at
 * the same time.
 */
export const chainIdentities = defineQuery({
  ...chain_identity,
  row: z.object({ chain_id: z.int(), genesis_hash: z.string() }),
})

const storedChainId = defineOptionalRow({ ...chain_identity, row: onlyColumn('chain_id', z.int()) })
const keptChainId = keptWhile(
  ['chain_identity'],
  shared(chain_identity.name, (clickhouse, _: object, options) => storedChainId(clickhouse, options)),
)

/** The id of this database's chain; null before the first ingest. */
export const databaseChainId = (clickhouse: ClickHouseClient, options?: ReadOptions) =>
  keptChainId(clickhouse, {}, options)
