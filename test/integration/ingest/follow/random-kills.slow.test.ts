import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { randomFor } from '../../../../local/chain/random.js'
import { spawnEmbedded } from '../../../../local/engine/spawn.js'
import { depth } from '../../../support/depth.js'
import { faultyNode, PASSING_FAULTS, seededFaults } from '../../../support/faulty-node.js'
import { ingestedTo, startIngest } from '../../../support/ingest.js'
import { type OwnChain, ownChain, resumeChain } from '../../../support/own-chain.js'
import { mismatches, runVerify } from '../../../support/verify.js'

const KILLS = depth('KILL_ROUNDS', 4, 20)
const SEED = Number(process.env.FAULT_SEED ?? 1)
/**
 * Enough blocks that ingest is behind at most kills: it gets further between two of them if the engine restarts slowly.
 */
const BLOCKS = 100 + 60 * KILLS + 3 * KILLS ** 2
const OPTIONS = { RPC_TIMEOUT_MS: '700', RPC_ATTEMPTS: '25', BATCH_BLOCKS: '5' }
const VICTIMS = ['ingest', 'engine', 'chain', 'everything'] as const
const PASSWORD = 'random-kills'

let chain: OwnChain
let dataDir: string

beforeAll(async () => {
  chain = await ownChain({ historyBlocks: BLOCKS })
  dataDir = await mkdtemp(join(tmpdir(), 'plumbline-kills-'))
}, 600_000)
afterAll(async () => {
  await chain?.remove()
  await rm(dataDir, { recursive: true, force: true })
})

test('after kills of any process at random moments, on a node with faults, every block is as on the chain', {
  timeout: 240_000 + 180_000 * KILLS,
}, async () => {
  const rates = Object.fromEntries(PASSING_FAULTS.map((fault) => [fault, 0.005]))
  const node = await faultyNode(chain.rpcUrl, seededFaults(SEED, rates))
  const startEngine = (port?: number) =>
    spawnEmbedded({ dataDir, ...(port !== undefined && { port }), user: 'default', password: PASSWORD })
  let engine = await startEngine()
  const env = {
    CLICKHOUSE_URL: engine.url,
    CLICKHOUSE_USER: 'default',
    CLICKHOUSE_PASSWORD: PASSWORD,
    CLICKHOUSE_DATABASE: 'killed',
  }
  await migrate(env)
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const newest = async () => (await newestBlock(clickhouse))?.block_number ?? 0
  const kill = {
    ingest: async () => {
      await ingest.kill('SIGKILL')
      ingest = startIngest(env, node.url, OPTIONS)
    },
    engine: async () => {
      engine.child.kill('SIGKILL')
      await engine.exited
      engine = await startEngine(Number(new URL(engine.url).port))
    },
    chain: async () => {
      chain.child.kill('SIGKILL')
      chain = await resumeChain(chain)
    },
    everything: async () => {
      await ingest.kill('SIGKILL')
      await Promise.all([kill.engine(), kill.chain()])
      ingest = startIngest(env, node.url, OPTIONS)
    },
  }
  const random = randomFor(SEED, 'kills')
  const killed = new Set<string>()
  let whileBehind = 0
  let ingest = startIngest(env, node.url, OPTIONS)
  for (let round = 0; round < KILLS; round++) {
    // Every round makes progress, however busy the machine; after that, any moment is equally good.
    await ingestedTo(clickhouse, Math.min((await newest()) + 1, BLOCKS), ingest)
    await sleep(random.int(0, 400))
    if ((await newest()) < BLOCKS) whileBehind++
    // Each process at least once, then random ones.
    const victim = VICTIMS[round < VICTIMS.length ? round : random.int(0, VICTIMS.length - 1)] as keyof typeof kill
    await kill[victim]()
    killed.add(victim)
  }
  expect(whileBehind).toBeGreaterThan(KILLS / 2)
  expect(killed.size).toBe(Math.min(KILLS, VICTIMS.length))
  await ingestedTo(clickhouse, BLOCKS, ingest, 80 + 60 * KILLS)
  await ingest.kill('SIGTERM')
  await node.close()
  const { code, output } = await runVerify(env, chain.rpcUrl, '--all')
  await clickhouse.close()
  await engine.stop()
  expect(mismatches(output), `FAULT_SEED=${SEED}\n${output}`).toEqual([])
  expect(code).toBe(0)
  expect(output).toMatch(new RegExp(`match +blocks row by row: ${BLOCKS} rows\\n`))
})
