import { pino } from 'pino'
import { z } from 'zod'
import { listPeriods } from '../../clickhouse/chain/token-lists.js'
import { dexOrdersById } from '../../clickhouse/flows/dex.js'
import { issuerRoleChanges } from '../../clickhouse/roles/roles.js'
import { allStablecoins, quoteTokenHistory } from '../../clickhouse/stablecoins/stablecoins.js'
import { segmentsOf } from '../../ingest/backfill/missing.js'
import { readSegment } from '../../ingest/backfill/read-segment.js'
import type { Batch } from '../../ingest/batch/complete-batch.js'
import type { BlockRange } from '../../ingest/chain/block-ranges.js'
import { forkTimes } from '../../ingest/chain/forks.js'
import { IngestConfig } from '../../ingest/config.js'
import { createIssuerRoles } from '../../ingest/knowledge/issuer-roles.js'
import { createOrders } from '../../ingest/knowledge/orders.js'
import { createRegistry } from '../../ingest/knowledge/registry.js'
import { createExchanges } from '../../ingest/knowledge/stored-exchange.js'
import { retryDatabaseWith } from '../../ingest/sinks/retry-database.js'
import { type Rpc, rpcOf } from '../../ingest/sources/rpc.js'
import { tokenList } from '../support/rows.js'
import { startProgram } from './programs.js'
import type { Database, Stack } from './stack.js'

/** The variables of ingest's programs for a database and a local node. */
export const environment = ({ env }: Database, rpcUrl: string): Record<string, string> => ({
  ...env,
  RPC_URL: rpcUrl,
  CHAIN: 'devnet',
  LOG_LEVEL: 'error',
  // On a busy machine a node may be slow: what is measured is how fast it is, not how patient we are.
  RPC_TIMEOUT_MS: '120000',
})

/** A database in which the tip has begun at the newest final block of a chain, with the catalogue of all before it. */
export async function begunDatabase(stack: Stack, name: string, rpcUrl: string): Promise<Database> {
  const database = await stack.database(name)
  const env = { ...environment(database, rpcUrl), START_BLOCK: 'head' }
  // Ingest has caught up when the newest block is of these minutes, and the chain may have been made long ago.
  await rpcFor(database, rpcUrl).request('evm_mine', [], z.unknown())
  await (await startProgram('ingest/main.js', env, 'ingest has caught up')).stop()
  return database
}

/** The node as a backfill of these settings asks it. */
export function rpcFor(database: Database, rpcUrl: string): Rpc {
  const config = IngestConfig.parse(environment(database, rpcUrl))
  return rpcOf(config, pino({ level: 'silent' }), new AbortController().signal)
}

/** The batches that a backfill of a range writes, one after the other. `onCall` hears of every call to the node. */
export async function* readSegments(
  database: Database,
  rpcUrl: string,
  range: BlockRange,
  onCall: (method: string, params: unknown[]) => void = () => {},
): AsyncGenerator<Batch> {
  const { clickhouse } = database
  const { BATCH_BLOCKS, QUOTES_COMPARED, CHAIN } = IngestConfig.parse(environment(database, rpcUrl))
  const rpc = rpcFor(database, rpcUrl)
  const retryDatabase = retryDatabaseWith(pino({ level: 'silent' }), new AbortController().signal)
  const forks = forkTimes(CHAIN, null)
  const reader = {
    clickhouse,
    retryDatabase,
    quotesCompared: QUOTES_COMPARED,
    withExchange: createExchanges({ clickhouse, retryDatabase, forks: () => forks }),
    rpc: {
      ...rpc,
      request: (method, params, shape) => {
        onCall(method, params)
        return rpc.request(method, params, shape)
      },
    } satisfies Rpc,
    registry: createRegistry(
      await allStablecoins(clickhouse, { before_block: range.to + 1 }),
      listPeriods([tokenList()]),
      [],
      await quoteTokenHistory(clickhouse, { before_block: range.to + 1 }),
    ),
    issuers: createIssuerRoles(await issuerRoleChanges(clickhouse, { before_block: range.to + 1 })),
    orders: createOrders((order_ids) => dexOrdersById(clickhouse, { order_ids })),
  }
  const scope = { families: ['logs', 'pegs', 'state'] as const, only: [], except: [] }
  for (const segment of segmentsOf([{ ...range, scope }], BATCH_BLOCKS, false)) {
    const { batch } = await readSegment(reader, segment)
    if (!batch) throw new Error(`the node has no state of blocks ${segment.from} to ${segment.to}`)
    yield batch
  }
}
