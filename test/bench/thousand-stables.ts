// Time from a block's existence on the node until the quotes of 1,000 stables in it can be queried, at one block a second,
// against a loop that asks the node for the same quotes and throws the answers away.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { numberToHex } from 'viem'
import { z } from 'zod'
import { IngestConfig } from '../../ingest/config.js'
import { MOST_CALLS, multicallOf } from '../../ingest/sources/multicall.js'
import { partsOf } from '../../ingest/sources/parts.js'
import { quoteCallsOf } from '../../ingest/sources/quotes.js'
import { rpcAt } from '../../ingest/sources/rpc.js'
import { startBareChain } from '../../local/chain/bare-chain.js'
import { createStables } from './many-stables.js'
import { percentile, timed } from './measure.js'
import { startProgram } from './programs.js'
import { rows, startStack } from './stack.js'

const STABLES = 1000
const BLOCKS = 60
const QUOTED = `status = 'quoted' AND sell_micros IS NOT NULL AND buy_micros IS NOT NULL`

const stack = await startStack()
const chain = await startBareChain(join(stack.dir, 'chain'))
try {
  const setUp = await timed(() => createStables(chain, STABLES))
  console.log(`${STABLES} stables with books after ${(setUp / 1000).toFixed(0)} s`)
  const { env, clickhouse } = await stack.database('thousand')
  const ingest = await startProgram(
    'ingest/main.js',
    { ...env, RPC_URL: chain.rpcUrl, RPC_WS_URL: chain.wsUrl, CHAIN: 'devnet', LOG_LEVEL: 'warn' },
    'ingest has caught up',
  )

  const first = Number(await chain.rpc.call('eth_blockNumber')) + 1
  /** Mines a block a second; milliseconds from each block on until `seen` has seen it. */
  const lagsOf = async (seen: (block: number) => Promise<void>): Promise<number[]> => {
    const from = Number(await chain.rpc.call('eth_blockNumber')) + 1
    const lags: Promise<number>[] = []
    const start = performance.now()
    for (let i = 0; i < BLOCKS; i++) {
      await sleep(Math.max(0, start + i * 1000 - performance.now()))
      await chain.rpc.call('evm_mine')
      lags.push(timed(() => seen(from + i)))
    }
    return Promise.all(lags)
  }
  const report = (what: string, lags: number[]): number => {
    const p50 = percentile(lags, 0.5)
    console.log(
      `${what}: p50 ${p50.toFixed(0)} ms, p95 ${percentile(lags, 0.95).toFixed(0)} ms, p99 ${percentile(lags, 0.99).toFixed(0)} ms over ${lags.length} blocks`,
    )
    return p50
  }

  const queryable = await lagsOf(async (block) => {
    for (;;) {
      const [found] = await rows<{ quoted: number }>(
        clickhouse,
        `SELECT toUInt32(count()) AS quoted FROM peg_samples WHERE ${QUOTED} AND block_number = ${block} AND block_time > now() - 600`,
      )
      if ((found?.quoted ?? 0) >= STABLES) return
      await sleep(20)
    }
  })
  const [stored] = await rows<Record<string, string>>(
    clickhouse,
    `SELECT countIf(${QUOTED}) AS quotes, uniqExact(block_number) AS blocks, (SELECT count() FROM depth_samples) AS depths FROM peg_samples WHERE block_number >= ${first}`,
  )
  console.log('in ClickHouse:', stored)
  await ingest.stop()

  const { RPC_BATCH_SIZE: batchSize, RPC_TIMEOUT_MS: timeoutMs } = IngestConfig.parse({ RPC_URL: chain.rpcUrl })
  const log = pino({ level: 'silent' })
  const signal = new AbortController().signal
  const rpc = rpcAt({ urls: [chain.rpcUrl], finalityDepth: 64, batchSize, timeoutMs, attempts: 1, log, signal })
  const stables = await rows<{ stable: string }>(
    clickhouse,
    `SELECT stable FROM peg_samples WHERE status = 'quoted' GROUP BY stable`,
  )
  const calls = quoteCallsOf(stables.map(({ stable }) => stable))
  const requests = partsOf(calls, MOST_CALLS).map(multicallOf)
  const asked = await lagsOf(async (block) => {
    await Promise.all(requests.map((request) => rpc.request('eth_call', [request, numberToHex(block)], z.unknown())))
  })

  const withDepth = await rows<{ block: number }>(
    clickhouse,
    `SELECT DISTINCT toUInt32(block_number) AS block FROM depth_samples WHERE block_number >= ${first}`,
  )
  const depthLags = withDepth.flatMap(({ block }) => queryable[block - first] ?? [])
  console.log(
    `of which blocks with ${STABLES * 8} more quotes for depth: ${depthLags.map((ms) => ms.toFixed(0)).join(', ')} ms`,
  )
  const ours = report('block to quotes queryable in ClickHouse', queryable)
  const theirs = report('the same eth_calls, thrown away         ', asked)
  console.log(`ratio of medians: ${(ours / theirs).toFixed(2)}`)
} finally {
  await chain.stop()
  await stack.close()
}
