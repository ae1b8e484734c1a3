import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { newestBlock } from '../../../clickhouse/queries/newest-block.js'
import { randomFor } from '../../../devnet/random.js'
import { stillChain, type TestChain } from '../../fixtures/chain.js'
import { faultyNode, PASSING_FAULTS, seededFaults } from '../../fixtures/faulty-node.js'
import { ingestedTo, startIngest } from '../../fixtures/ingest.js'
import { test } from '../../fixtures/services.js'
import { mismatches, runVerify } from '../../fixtures/verify.js'

const KILLS = Number(process.env.KILL_ROUNDS ?? 3)
const SEED = Number(process.env.FAULT_SEED ?? 1)
/** Enough that ingest is behind at every kill. */
const BLOCKS = 100 + 60 * KILLS
const OPTIONS = { RPC_TIMEOUT_MS: '700', RPC_ATTEMPTS: '12', BATCH_BLOCKS: '5' }

let chain: TestChain

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: BLOCKS })
}, 600_000)
afterAll(async () => {
  await chain?.remove()
})

test('after kills of ingest at random moments, on a node with faults, every block is as on the chain', {
  timeout: 240_000 + 60_000 * KILLS,
}, async ({ clickhouseEnv, clickhouse }) => {
  const rates = Object.fromEntries(PASSING_FAULTS.map((fault) => [fault, 0.005]))
  const node = await faultyNode(chain.rpcUrl, seededFaults(SEED, rates))
  const newest = async () => (await newestBlock(clickhouse, {}))[0]?.block_number ?? 0
  const random = randomFor(SEED, 'kills')
  let whileBehind = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const ingest = startIngest(clickhouseEnv, node.url, OPTIONS)
    // Every round gets somewhere, however busy the machine; then any moment is as good as another.
    await ingestedTo(clickhouse, (await newest()) + 1, ingest, 110)
    await sleep(random.int(0, 400))
    expect(ingest.child.exitCode, ingest.output()).toBeNull()
    await ingest.kill('SIGKILL')
    if ((await newest()) < BLOCKS) whileBehind++
  }
  expect(whileBehind).toBeGreaterThan(KILLS / 2)
  const ingest = startIngest(clickhouseEnv, node.url, OPTIONS)
  await ingestedTo(clickhouse, BLOCKS, ingest, 200)
  await ingest.kill('SIGTERM')
  await node.close()
  const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(output), `FAULT_SEED=${SEED}\n${output}`).toEqual([])
  expect(code).toBe(0)
  expect(output).toMatch(new RegExp(`match +blocks row by row: ${BLOCKS} rows\\n`))
})
