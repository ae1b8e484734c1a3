import { pino } from 'pino'
import { IngestConfig } from '../../ingest/config.js'
import { ingest } from '../../ingest/follow/run.js'
import type { Database } from './stack.js'

/** Takes in a chain up to block `head`, in this process. */
export async function ingestAll({ env, clickhouse }: Database, rpcUrl: string, head: number): Promise<void> {
  const config = IngestConfig.parse({ ...env, RPC_URL: rpcUrl, CHAIN: 'devnet' })
  const stop = new AbortController()
  const log = pino({ level: 'silent' })
  for await (const { block } of ingest({ clickhouse, config, log, signal: stop.signal })) if (block >= head) break
  stop.abort()
}
