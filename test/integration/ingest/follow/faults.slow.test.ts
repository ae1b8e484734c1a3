import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { type CallOutcome, nodeCalls } from '../../../../clickhouse/chain/node-calls.js'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { spawnEmbedded } from '../../../../local/engine/spawn.js'
import { stillChain, useStillChain } from '../../../support/chain.js'
import { type Fault, faultyNode, PASSING_FAULTS, seededFaults } from '../../../support/faulty-node.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestedTo, startIngest } from '../../../support/ingest.js'
import { copyHistory, fingerprintOfHistory } from '../../../support/ingested.js'
import { until } from '../../../support/jobs/process.js'
import { test } from '../../../support/services.js'

const IMPATIENT = { RPC_TIMEOUT_MS: '700', BATCH_BLOCKS: '10', RPC_ATTEMPTS: '8' }
const SEED = Number(process.env.FAULT_SEED ?? 1)
/** So few that they never use up the attempts at one batch, of which a slow machine takes some too. */
const MOST_STRIKES = 7
const chain = useStillChain({ historyBlocks: 120 })
/** The facts of an undisturbed run. */
let expected: unknown

beforeAll(async () => {
  expected = await fingerprintOfHistory(chain)
  expect(expected).toMatchObject({ blocks: [{ rows: '120' }] })
})

// Most of their time is waiting.
test.concurrent.for(PASSING_FAULTS)(
  'a node whose answers are occasionally %s changes nothing',
  async (fault, { clickhouseEnv, clickhouse }) => {
    // Drawn at random: one at every second request would always strike the same call of a repeated pair.
    const drawn = seededFaults(SEED, { [fault]: 1 / 3 })
    const node = await faultyNode(chain.rpcUrl, (request) => (node.strikes() < MOST_STRIKES ? drawn(request) : 'none'))
    const ingest = startIngest(clickhouseEnv, node.url, { ...IMPATIENT, RPC_ATTEMPTS: '25' })
    await ingestedTo(clickhouse, chain.head, ingest)
    await ingest.kill('SIGTERM')
    await node.close()
    expect(await fingerprint(clickhouse), `FAULT_SEED=${SEED}`).toEqual(expected)
    // An older head is not a failure: whether a missing block reveals it depends on the moment.
    if (fault !== 'lagging') expect(ingest.output()).toContain('failed')
  },
)

test('a node with random faults of all kinds changes nothing', async ({ clickhouseEnv, clickhouse }) => {
  const rates = Object.fromEntries(PASSING_FAULTS.map((fault) => [fault, 0.015]))
  const node = await faultyNode(chain.rpcUrl, seededFaults(SEED, rates))
  const ingest = startIngest(clickhouseEnv, node.url, { ...IMPATIENT, RPC_ATTEMPTS: '25' })
  await ingestedTo(clickhouse, chain.head, ingest)
  await ingest.kill('SIGTERM')
  await node.close()
  expect(await fingerprint(clickhouse), `FAULT_SEED=${SEED}`).toEqual(expected)
  expect(ingest.output()).toContain('failed')
})

test('a node whose chain id changes is detected, and nothing is written for the other chain', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  // From its first request on, or at any later one.
  const fresh = await faultyNode(chain.rpcUrl, (request) => (request === 0 ? 'other-chain' : 'none'))
  const confused = startIngest(clickhouseEnv, fresh.url, { ...IMPATIENT, RPC_TIMEOUT_MS: '60000' })
  expect(await confused.exited).toEqual({ code: 78, signal: null })
  expect(confused.output()).toMatch(/ingest stops: .*chain 8022442\b/)
  await fresh.close()
  expect(await fingerprint(clickhouse)).toMatchObject({ blocks: [{ rows: '0' }] })

  const node = await faultyNode(chain.rpcUrl, () => 'none')
  const ingest = startIngest(clickhouseEnv, node.url, IMPATIENT)
  await ingestedTo(clickhouse, chain.head, ingest)
  node.faults = () => 'other-chain'
  expect(await ingest.exited).toEqual({ code: 78, signal: null })
  expect(ingest.output()).toMatch(/ingest stops: .*chain 8022442\b/)
  await node.close()
  expect(await fingerprint(clickhouse)).toEqual(expected)
})

test('a node that stays unavailable stops ingest with an error, and a later start continues', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const node = await faultyNode(chain.rpcUrl, (request) => (request > 12 ? 'refused' : 'none'))
  const ingest = startIngest(clickhouseEnv, node.url, { ...IMPATIENT, RPC_ATTEMPTS: '3' })
  expect(await ingest.exited).toEqual({ code: 1, signal: null })
  expect(ingest.output()).toMatch(/ingest stops: .* failed 3 times/)
  node.faults = () => 'none'
  const next = startIngest(clickhouseEnv, node.url, IMPATIENT)
  await ingestedTo(clickhouse, chain.head, next)
  await next.kill('SIGTERM')
  await node.close()
  expect(await fingerprint(clickhouse)).toEqual(expected)
})

test('an incomplete list of logs is never written', async ({ clickhouseEnv, clickhouse }) => {
  const node = await faultyNode(chain.rpcUrl, () => 'cut-logs')
  const ingest = startIngest(clickhouseEnv, node.url, { ...IMPATIENT, RPC_ATTEMPTS: '3' })
  expect(await ingest.exited).toEqual({ code: 1, signal: null })
  await node.close()
  expect(ingest.output()).toMatch(/ingest stops: .*the logs of block \d+/)
  expect(await fingerprint(clickhouse)).toMatchObject({
    blocks: [{ rows: '0' }],
    peg_samples: [{ rows: '0' }],
    flows: [{ rows: '0' }],
  })
})

test('another chain is refused with an error that names both chains, and the database is not changed', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await copyHistory(chain, clickhouse, clickhouseEnv)
  const other = await stillChain({ historyBlocks: 30, seed: 2, blockSeconds: 30 })
  try {
    const ingest = startIngest(clickhouseEnv, other.rpcUrl)
    expect(await ingest.exited).toEqual({ code: 78, signal: null })
    expect(ingest.output()).toContain(chain.genesisHash)
    expect(ingest.output()).toContain(other.genesisHash)
    expect(await fingerprint(clickhouse)).toEqual(expected)
  } finally {
    await other.remove()
  }
})

test('a second ingest on the same database is refused, and nothing is counted twice', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const both = [1, 2].map(() => startIngest(clickhouseEnv, chain.rpcUrl, { BATCH_BLOCKS: '7' }))
  const ended = await Promise.race(both.map(({ exited }, i) => exited.then((how) => ({ ...how, i }))))
  expect(ended.code).toBe(78)
  expect(both[ended.i]?.output()).toContain('another ingest process writes to this database')
  const survivor = both[1 - ended.i] as (typeof both)[number]
  await ingestedTo(clickhouse, chain.head, survivor)
  await survivor.kill('SIGTERM')
  expect(await fingerprint(clickhouse)).toEqual(expected)
})

describe('while ClickHouse is unavailable', () => {
  test('ingest waits, then catches up, and nothing is lost', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-away-'))
    const options = { dataDir, user: 'default', password: 'away' }
    let engine = await spawnEmbedded(options)
    const env = {
      CLICKHOUSE_URL: engine.url,
      CLICKHOUSE_USER: 'default',
      CLICKHOUSE_PASSWORD: 'away',
      CLICKHOUSE_DATABASE: 'away',
    }
    await migrate(env)
    const clickhouse = connect(env, { application: 'plumbline-test' })
    const ingest = startIngest(env, chain.rpcUrl, { BATCH_BLOCKS: '5' })
    while ((await newestBlock(clickhouse)) === null) await sleep(20)
    await engine.stop()
    await sleep(30_000)
    expect(ingest.child.exitCode).toBeNull()
    engine = await spawnEmbedded({ ...options, port: Number(new URL(engine.url).port) })
    await ingestedTo(clickhouse, chain.head, ingest)
    await ingest.kill('SIGTERM')
    expect(await fingerprint(clickhouse)).toEqual(expected)
    await clickhouse.close()
    await engine.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
})

/** Three processes start at once, on a busy machine. */
const PROBLEMS_TIMEOUT_MS = 900_000

test.concurrent.for<[Fault, CallOutcome]>([
  ['rate-limited', 'limited'],
  ['silent', 'late'],
  ['refused', 'failed'],
])(
  'others can see that a node is %s: its calls are recorded as %s',
  { timeout: PROBLEMS_TIMEOUT_MS },
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
