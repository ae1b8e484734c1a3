// A first start on a chain of 43 million blocks, 60 ms a call: the catalogue's blocks per second against ranges of 10,000
// blocks one after the other, and the time to the first peg over HTTP. node dist/test/bench/long-chain.js [--blocks N]
// [--latency ms] [--most-blocks N] [--logs-per-second N] [--without-times]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { readCatalogue } from '../../ingest/batch/read-catalogue.js'
import { createRegistry } from '../../ingest/knowledge/registry.js'
import type { StreamOptions } from '../../ingest/sources/log-stream.js'
import { rpcAt } from '../../ingest/sources/rpc.js'
import { localNode } from '../support/local-node.js'
import { longChain } from '../support/long-chain.js'
import { timed } from './measure.js'
import { startProgram } from './programs.js'
import { startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: {
    blocks: { type: 'string', default: '43000000' },
    latency: { type: 'string', default: '60' },
    'most-blocks': { type: 'string' },
    'logs-per-second': { type: 'string' },
    'without-times': { type: 'boolean', default: false },
  },
})
const before = Number(flags.blocks)
/** One block in so many has a log of the catalogue. */
const LOG_EVERY = 5000
/** The share of the blocks that are read one range after the other. */
const SHARE = 100

const limits = {
  latencyMs: Number(flags.latency),
  ...(flags['most-blocks'] && { mostBlocks: Number(flags['most-blocks']) }),
  ...(flags['logs-per-second'] && { logsPerSecond: Number(flags['logs-per-second']) }),
  blockTimestamps: !flags['without-times'],
}
const stack = await startStack()
try {
  const chain = await stack.chain('chain', { historyBlocks: 120, stables: 9 })
  await chain.historyDone

  /** Blocks a second of the catalogue, read and thrown away. */
  async function rateOf(blocks: number, stream: StreamOptions): Promise<number> {
    const node = await longChain(chain.rpcUrl, { before, logEvery: LOG_EVERY, limits })
    const { signal } = new AbortController()
    const log = pino({ level: 'silent' })
    const rpc = rpcAt({
      ...{ urls: [node.url], finalityDepth: 64, batchSize: 50, timeoutMs: 60_000, attempts: 100, log, signal },
    })
    const ms = await timed(async () => {
      for await (const _ of readCatalogue({ rpc, stream }, createRegistry([], [], []), {
        from: 1,
        to: blocks,
      }));
    })
    await node.close()
    return blocks / (ms / 1000)
  }
  const alone = await rateOf(before / SHARE, { atOnce: 1, firstBlocks: 10_000, mostBlocks: 10_000, doubtsTimes: true })
  const together = await rateOf(before, {})
  console.log(`ranges of 10,000 blocks one after the other: ${alone.toFixed(0)} blocks/s`)
  console.log(
    `ranges as the node allows, many at once: ${together.toFixed(0)} blocks/s, ${(together / alone).toFixed(1)} times`,
  )

  const node = await longChain(chain.rpcUrl, { before, logEvery: LOG_EVERY, limits })
  const { env } = await stack.database('long')
  const api = await startProgram('api/server.js', { ...env, PORT: '0', LOG_LEVEL: 'error' }, 'api ready at ')
  const base = api.line.slice('api ready at '.length)
  const began = performance.now()
  const ingestEnv = { ...env, ...localNode(node.url), TRACK: 'listed', START_BLOCK: 'head', LOG_LEVEL: 'warn' }
  const ingest = await startProgram('ingest/main.js', ingestEnv, 'ingest reads')
  const hasPeg = async (): Promise<boolean> => {
    const list = (await (await fetch(base)).json()) as { stablecoins?: Array<{ address: string }> }
    for (const { address } of list.stablecoins ?? []) {
      const answer = (await (await fetch(`${base}/${address}/peg`)).json()) as { current?: object | null }
      if (answer.current) return true
    }
    return false
  }
  while (!(await hasPeg())) await sleep(200)
  const seconds = (performance.now() - began) / 1000
  console.log(`${before} blocks, ${flags.latency} ms a call: the first peg over HTTP after ${seconds.toFixed(1)} s`)
  console.log(`calls: ${JSON.stringify(node.counts)}`)
  await ingest.stop()
  await api.stop()
  await node.close()
} finally {
  await stack.close()
}
process.exit(0)
