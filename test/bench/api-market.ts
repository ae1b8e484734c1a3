import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { startBareChain } from '../../local/chain/bare-chain.js'
import { createStables, stableAt } from './many-stables.js'
import { startProgram } from './programs.js'
import { startStack } from './stack.js'

export type ApiMarket = {
  clickhouse: ClickHouseClient
  /** Process id of the engine. */
  enginePid: number
  /** Addresses in lower case. */
  stables: string[]
  /** The API in a process of its own, with so much memory for answers. */
  startApi: (cacheMb: number) => Promise<{ url: string; pid: number }>
  /** A block a second from now on, and ingest at work. */
  goLive: () => Promise<void>
  close: () => Promise<void>
}

/** A chain of `count` stables with books, ingested up to its head, and nothing at work on it. */
export async function startApiMarket(count: number): Promise<ApiMarket> {
  const stack = await startStack()
  const chain = await startBareChain(join(stack.dir, 'chain'))
  const stops: Array<() => unknown> = [stack.close, () => chain.stop()]
  await createStables(chain, count)
  const { env, clickhouse } = await stack.database('api')
  const startIngest = () =>
    startProgram(
      'ingest/main.js',
      { ...env, RPC_URL: chain.rpcUrl, RPC_WS_URL: chain.wsUrl, CHAIN: 'devnet', LOG_LEVEL: 'error' },
      'ingest has caught up',
    )
  const first = await startIngest()
  await first.stop()
  return {
    clickhouse,
    enginePid: stack.pid,
    stables: Array.from({ length: count }, (_, i) => stableAt(i).toLowerCase()),
    startApi: async (cacheMb) => {
      // Requests are counted against a limit that they do not reach.
      const limits = { FREE_REQUESTS_PER_MINUTE: '1000000000', MAX_EVENT_LOOP_DELAY_MS: '0' }
      const settings = { ...env, ...limits, PORT: '0', LOG_LEVEL: 'warn', CACHE_MEMORY_MB: `${cacheMb}` }
      const api = await startProgram('api/server.js', settings, 'api ready at ')
      stops.push(api.stop)
      return { url: new URL(api.line.slice('api ready at '.length)).origin, pid: api.child.pid as number }
    },
    goLive: async () => {
      // The blocks first: ingest says that it has caught up when it has read one.
      const miner = setInterval(() => void chain.rpc.call('evm_mine'), 1000)
      stops.push(() => clearInterval(miner))
      const ingest = await startIngest()
      stops.push(ingest.stop)
    },
    close: async () => {
      for (const stop of stops.reverse()) await stop()
    },
  }
}
