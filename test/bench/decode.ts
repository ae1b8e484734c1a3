// Logs per second that one core turns into facts, against viem's own parseEventLogs on the same logs of a local chain.
import { numberToHex, parseEventLogs } from 'viem'
import { Abis } from 'viem/tempo'
import { z } from 'zod'
import { decodeLog } from '../../ingest/chain/events.js'
import { RawLog } from '../../ingest/chain/rpc-answers.js'
import { median, timed } from './measure.js'
import { startStack } from './stack.js'

const BLOCKS = 600
const ROUNDS = 7
/** Times that the chain's logs are gone through in a round, so that a round takes a good part of a second. */
const REPEATS = 20

const Answer = z.object({ result: z.array(z.unknown()) })

const stack = await startStack()
try {
  const chain = await stack.chain('chain', { historyBlocks: BLOCKS })
  await chain.historyDone
  const params = [{ fromBlock: numberToHex(1), toBlock: numberToHex(BLOCKS) }]
  const response = await fetch(chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params }),
  })
  const { result } = Answer.parse(await response.json())
  const logs = z.array(RawLog).parse(result)
  const abi = [
    ...Abis.tip20,
    ...Abis.tip20Factory,
    ...Abis.stablecoinDex,
    ...Abis.tip403Registry,
    ...Abis.feeManager,
  ] as const
  const ways: Record<string, () => unknown> = {
    'check the answer (zod)': () => z.array(RawLog).parse(result),
    decodeLog: () => logs.map(decodeLog),
    'viem parseEventLogs': () => parseEventLogs({ abi, logs: logs as never, strict: false }),
  }
  console.log(
    `${logs.length} logs of ${BLOCKS} blocks, ${logs.filter((log) => decodeLog(log) !== null).length} decoded`,
  )
  const rates: Record<string, number[]> = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const ms = await timed(async () => {
        for (let i = 0; i < REPEATS; i++) run()
      })
      rates[name] = [...(rates[name] ?? []), (logs.length * REPEATS) / (ms / 1000)]
    }
  }
  for (const [name, values] of Object.entries(rates)) {
    console.log(`${name.padEnd(24)}: ${Math.round(median(values)).toLocaleString('en')} logs/s`)
  }
  const [ours, theirs] = [median(rates.decodeLog ?? []), median(rates['viem parseEventLogs'] ?? [])]
  console.log(`ratio of medians        : ${(ours / theirs).toFixed(1)} (target: at least 100,000 logs/s)`)
} finally {
  await stack.close()
}
