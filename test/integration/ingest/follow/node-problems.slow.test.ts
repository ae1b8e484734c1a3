import { afterAll, beforeAll } from 'vitest'
import { type CallOutcome, nodeCalls } from '../../../../clickhouse/chain/node-calls.js'
import { stillChain } from '../../../support/chain.js'
import { type Fault, faultyNode } from '../../../support/faulty-node.js'
import { startIngest } from '../../../support/ingest.js'
import { until } from '../../../support/jobs/process.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

/** Three processes start at once, on a busy machine. */
const TIMEOUT_MS = 900_000

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 120 })
})
afterAll(() => chain?.remove())

test.concurrent.for<[Fault, CallOutcome]>([
  ['rate-limited', 'limited'],
  ['silent', 'late'],
  ['refused', 'failed'],
])(
  'others can see that a node is %s: its calls are recorded as %s',
  { timeout: TIMEOUT_MS },
  async ([fault, outcome], { clickhouse, clickhouseEnv, onTestFinished }) => {
    const node = await faultyNode(chain.rpcUrl, (request) => (request % 4 !== 0 ? fault : 'none'))
    const settings = { RPC_TIMEOUT_MS: '700', RPC_ATTEMPTS: '100', BATCH_BLOCKS: '20' }
    const ingest = startIngest(clickhouseEnv, node.url, settings)
    onTestFinished(async () => {
      await ingest.kill('SIGKILL')
      await node.close()
    })
    const recorded = async () => ((await nodeCalls(clickhouse))?.[outcome] ?? 0) > 0
    await until(`calls are recorded as ${outcome}`, recorded, [ingest], 600)
  },
)
