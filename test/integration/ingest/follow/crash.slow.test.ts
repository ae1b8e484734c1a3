import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { type ClickHouseEnv, connect } from '../../../../clickhouse/store/client.js'
import { type Embedded, spawnEmbedded } from '../../../../local/engine/spawn.js'
import { depth } from '../../../support/depth.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedTo, startIngest } from '../../../support/ingest.js'
import { type OwnChain, ownChain, resumeChain } from '../../../support/own-chain.js'
import { withDatabase } from '../../../support/services.js'

const KILLS = depth('KILL_ROUNDS', 2, 10)
const BLOCKS = 400
/** Small batches, so that kills fall between different inserts. */
const SLOWLY = { BATCH_BLOCKS: '15' }

let chain: OwnChain
let dataDir: string
let engine: Embedded
let env: ClickHouseEnv
/** What an undisturbed run stores. */
let expected: unknown

/** An engine that may be killed: always the embedded one, whatever the other tests use. */
const startEngine = (port?: number): Promise<Embedded> =>
  spawnEmbedded({ dataDir, ...(port !== undefined && { port }), user: 'default', password: 'crash' })

const killed = async (process: Embedded): Promise<void> => {
  process.child.kill('SIGKILL')
  await process.exited
}

beforeAll(async () => {
  chain = await ownChain({ historyBlocks: BLOCKS })
  expected = await withDatabase(async (undisturbed, clickhouse) => {
    await ingestAll(undisturbed, clickhouse, chain.rpcUrl, BLOCKS)
    return fingerprint(clickhouse)
  })
  dataDir = await mkdtemp(join(tmpdir(), 'plumbline-crash-'))
  engine = await startEngine()
})

afterAll(async () => {
  await engine?.stop()
  await chain?.remove()
  await rm(dataDir, { recursive: true, force: true })
})

/** Calls `disturb` several times at different moments while ingest catches up, and returns the stored facts at the end. */
async function disturbed(
  database: string,
  disturb: (ingest: ReturnType<typeof startIngest>) => Promise<ReturnType<typeof startIngest>>,
) {
  env = {
    CLICKHOUSE_URL: engine.url,
    CLICKHOUSE_USER: 'default',
    CLICKHOUSE_PASSWORD: 'crash',
    CLICKHOUSE_DATABASE: database,
  }
  await migrate(env)
  const clickhouse = connect(env, { application: 'plumbline-test' })
  let ingest = startIngest(env, chain.rpcUrl, SLOWLY)
  let whileBehind = 0
  for (let kill = 0; kill < KILLS; kill++) {
    // The process takes about 0.4 s to start; after that, any moment is equally good.
    await sleep(450 + 37 * kill)
    const newest = await newestBlock(clickhouse)
    if (ingest.child.exitCode === null && (newest?.block_number ?? 0) < BLOCKS) whileBehind++
    ingest = await disturb(ingest)
  }
  await ingestedTo(clickhouse, BLOCKS, ingest)
  await ingest.kill('SIGTERM')
  const found = await fingerprint(clickhouse)
  await clickhouse.close()
  expect(whileBehind).toBe(KILLS)
  return found
}

test('kills of ingest while it catches up change no row and no window', async () => {
  const found = await disturbed('killed_ingest', async (ingest) => {
    await ingest.kill('SIGKILL')
    return startIngest(env, chain.rpcUrl, SLOWLY)
  })
  expect(found).toEqual(expected)
})

test('kills of the engine while ingest writes change no row and no window', async () => {
  const found = await disturbed('killed_engine', async (ingest) => {
    await killed(engine)
    engine = await startEngine(Number(new URL(engine.url).port))
    return ingest
  })
  expect(found).toEqual(expected)
})

test('kills of ingest, the engine and the chain together change no row and no window', async () => {
  const found = await disturbed('killed_everything', async (ingest) => {
    chain.child.kill('SIGKILL')
    await Promise.all([ingest.kill('SIGKILL'), killed(engine)])
    ;[chain, engine] = await Promise.all([resumeChain(chain), startEngine(Number(new URL(engine.url).port))])
    return startIngest(env, chain.rpcUrl, SLOWLY)
  })
  expect(found).toEqual(expected)
})
