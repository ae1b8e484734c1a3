// Time from a block's existence on the node until its samples answer over HTTP, and inserts, at one block a second with 50
// stables.
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, webSocket } from 'viem'
import { percentile } from './measure.js'
import { startProgram } from './programs.js'
import { rows, startStack } from './stack.js'

const STABLES = 50
const BLOCKS = 60

/** TIP_FLUSH_MS: each block at once, and as many as come in two seconds together. */
const FLUSHES = [0, 2000]

const stack = await startStack()
try {
  const chain = await stack.chain('chain', { historyBlocks: 60, stables: STABLES, live: true })
  for (const flushMs of FLUSHES) await follow(chain, flushMs)
} finally {
  await stack.close()
}
process.exit(0)

async function follow(chain: { rpcUrl: string; wsUrl: string }, flushMs: number): Promise<void> {
  const { env, clickhouse } = await stack.database(`tip_${flushMs}`)
  const inserts = async (): Promise<number> => {
    const [row] = await rows<{ value: number }>(
      clickhouse,
      `SELECT toUInt32(value) AS value FROM system.events WHERE event = 'InsertQuery'`,
    )
    return row?.value ?? 0
  }
  const ingest = await startProgram(
    'ingest/main.js',
    {
      ...env,
      RPC_URL: chain.rpcUrl,
      RPC_WS_URL: chain.wsUrl,
      CHAIN: 'devnet',
      TIP_FLUSH_MS: `${flushMs}`,
      LOG_LEVEL: 'warn',
    },
    'ingest has caught up',
  )
  const api = await startProgram(
    'api/server.js',
    // An answer that is kept may be two seconds old: that is a promise, and not how fast a block comes in.
    { ...env, PORT: '0', CACHE_MEMORY_MB: '0', FREE_REQUESTS_PER_MINUTE: '0', LOG_LEVEL: 'error' },
    'api ready at ',
  )
  const base = api.line.slice('api ready at '.length)
  const [stable] = await rows<{ stable: string }>(
    clickhouse,
    `SELECT stable FROM peg_samples WHERE status = 'quoted' GROUP BY stable ORDER BY count() DESC LIMIT 1`,
  )

  const born = new Map<number, number>()
  const node = createClient({ transport: webSocket(chain.wsUrl) })
  await node.transport.subscribe({
    params: ['newHeads'],
    onData: ({ result }) => void born.set(Number((result as { number: string }).number), performance.now()),
    onError: () => {},
  })
  const lags: number[] = []
  const [insertsBefore, began] = [await inserts(), performance.now()]
  for (let seen = 0; lags.length < BLOCKS; await sleep(10)) {
    const response = await fetch(`${base}/${stable?.stable}/peg`)
    const { current } = (await response.json()) as { current: { block_number: number } }
    for (let number = Math.max(seen + 1, current.block_number - 5); number <= current.block_number; number++) {
      const at = born.get(number)
      if (at !== undefined) lags.push(performance.now() - at)
    }
    seen = current.block_number
  }
  const [made, seconds] = [(await inserts()) - insertsBefore, (performance.now() - began) / 1000]
  console.log(
    `TIP_FLUSH_MS=${flushMs}, ${STABLES} stables, ${lags.length} blocks: p50 ${percentile(lags, 0.5).toFixed(0)} ms, p99 ${percentile(lags, 0.99).toFixed(0)} ms from the block's announcement to its sample over HTTP; ${(made / seconds).toFixed(1)} inserts a second, ${(made / lags.length).toFixed(1)} a block`,
  )
  const socket = await node.transport.getRpcClient()
  socket.close()
  await api.stop()
  await ingest.stop()
}
