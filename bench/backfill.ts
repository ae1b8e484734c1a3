// Blocks per second of ingest catching up, against a loop that asks the node the same and throws the answers away.
import { pino } from 'pino'
import { numberToHex } from 'viem'
import { z } from 'zod'
import { REFERENCE_STABLE } from '../domain/peg.js'
import { ahead } from '../ingest/ahead.js'
import { IngestConfig } from '../ingest/config.js'
import { FIRST_BLOCK } from '../ingest/decode.js'
import { quoteMulticalls } from '../ingest/sources/quotes.js'
import { rpcAt } from '../ingest/sources/rpc.js'
import { blockRanges } from '../ingest/stages/block-ranges.js'
import { ingestAll } from './ingest-all.js'
import { median, timed } from './measure.js'
import { rows, startStack } from './stack.js'

const BLOCKS = 1440
const ROUNDS = 5

const stack = await startStack()
const chain = await stack.chain('chain', { historyBlocks: BLOCKS })
await chain.historyDone
const log = pino({ level: 'silent' })

async function* head(): AsyncGenerator<number> {
  yield BLOCKS
}

async function drainNode(stables: readonly string[]): Promise<void> {
  const {
    RPC_BATCH_SIZE: batchSize,
    RPC_TIMEOUT_MS: timeoutMs,
    BATCH_BLOCKS,
  } = IngestConfig.parse({ RPC_URL: chain.rpcUrl })
  const rpc = rpcAt({
    urls: [chain.rpcUrl],
    finalityDepth: 64,
    batchSize,
    timeoutMs,
    attempts: 1,
    log,
    signal: new AbortController().signal,
  })
  const ask = (method: string, params: unknown[]) => rpc.request(method, params, z.unknown())
  const ranges = blockRanges(head(), FIRST_BLOCK, BATCH_BLOCKS, null)
  const drained = ahead(ranges, 4, async ({ from, to }) => {
    const numbers = Array.from({ length: to - from + 1 }, (_, i) => numberToHex(from + i))
    await Promise.all([
      ...numbers.map((number) => ask('eth_getBlockByNumber', [number, false])),
      ask('eth_getLogs', [{ fromBlock: numberToHex(from), toBlock: numberToHex(to) }]),
    ])
    const multicalls = quoteMulticalls(stables)
    await Promise.all(numbers.flatMap((number) => multicalls.map(({ request }) => ask('eth_call', [request, number]))))
  })
  for await (const _ of drained);
}

try {
  const warmUp = await stack.database('warm_up')
  await ingestAll(warmUp, chain.rpcUrl, BLOCKS)
  const stables = await rows<{ stable: string }>(
    warmUp.clickhouse,
    `SELECT stable FROM stablecoins WHERE currency = 'USD' AND stable != '${REFERENCE_STABLE}'`,
  )
  const counts = await rows<Record<string, string>>(
    warmUp.clickhouse,
    'SELECT (SELECT count() FROM peg_samples) AS samples, (SELECT sum(log_count) FROM blocks) AS logs, (SELECT count() FROM flows) AS flows',
  )
  console.log(`${BLOCKS} blocks, ${stables.length} quoted stables:`, counts[0])
  const addresses = stables.map(({ stable }) => stable)
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(BLOCKS / ((await timed(() => drainNode(addresses))) / 1000))
    const database = await stack.database(`round_${round}`)
    ours.push(BLOCKS / ((await timed(() => ingestAll(database, chain.rpcUrl, BLOCKS))) / 1000))
  }
  console.log(
    `fetch and throw away: ${median(theirs).toFixed(0)} blocks/s   (${theirs.map((v) => v.toFixed(0)).join(' ')})`,
  )
  console.log(
    `ingest              : ${median(ours).toFixed(0)} blocks/s   (${ours.map((v) => v.toFixed(0)).join(' ')})`,
  )
  console.log(`ratio of medians    : ${(median(ours) / median(theirs)).toFixed(2)} (target: at least 0.7)`)
} finally {
  await stack.close()
}
