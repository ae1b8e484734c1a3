import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { beforeAll, expect } from 'vitest'
import { runningInserts } from '../../../../clickhouse/chain/batches.js'
import { blockAt } from '../../../../clickhouse/chain/blocks.js'
import { newestRollback } from '../../../../clickhouse/chain/rollbacks.js'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { LedgerError, openLedger } from '../../../../ingest/sinks/batch-ledger.js'
import { completeRollback, planRollback } from '../../../../ingest/sinks/roll-back.js'
import { randomFor } from '../../../../local/chain/random.js'
import { type Embedded, spawnEmbedded } from '../../../../local/engine/spawn.js'
import { useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedHead, startIngest } from '../../../support/ingest.js'
import { type CopyTo, withIngested } from '../../../support/ingested.js'
import { type ChangingChain, changingChain } from '../../../support/reorgs.js'
import { test, withDatabase } from '../../../support/services.js'

const ROUNDS = depth('KILL_ROUNDS', 3, 20)
const SEED = 7

const chain = useStillChain({ historyBlocks: 40 })
let blocks: ChangingChain

beforeAll(async () => {
  blocks = changingChain(chain)
  await blocks.mine(22, 'first')
})

/** The contents of a database that has only ever seen the current chain. */
const fresh = async (): Promise<Record<string, unknown>> =>
  withDatabase(async (env, clickhouse) => {
    await ingestAll(env, clickhouse, chain.rpcUrl, (await blocks.head()).number)
    return fingerprint(clickhouse)
  })

/** Plans the removal of all blocks after `kept_block`, as ingest does when it finds that they were replaced. */
async function planRemovalAfter(clickhouse: ClickHouseClient, kept_block: number) {
  const { sequence: after_sequence, last } = await openLedger(clickhouse, 'tip', 1)
  const kept = await blockAt(clickhouse, kept_block)
  if (!kept || !last) throw new Error(`block ${kept_block} is not in`)
  const { block_hash: kept_hash, block_time: kept_time } = kept
  const what = { kept_block, kept_hash, kept_time, removed_to: last.block, after_sequence, reason: 'test' }
  await planRollback(clickhouse, 'tip', { ...what, sequence_number: 0 })
  return { ...what, sequence_number: 1, writer: 'test' }
}

/** Databases of the chain before its newest six blocks were replaced, and their expected contents afterwards. */
const crashed = test.extend<{ copyBefore: CopyTo; expected: Record<string, unknown> }>({
  copyBefore: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    async ({}, use) => withIngested({ ...chain, head: (await blocks.head()).number }, {}, use),
    { scope: 'file' },
  ],
  expected: [
    async ({ copyBefore: _ }, use) => {
      await blocks.reorg(6, 'crash')
      await use(await fresh())
    },
    { scope: 'file' },
  ],
})

// Every state that a crash can leave behind, in the order of the steps.
const others = factTables.filter((table) => table !== 'blocks')
crashed.for([
  ['nothing is removed', []],
  ['only the blocks are removed', ['blocks']],
  ['the blocks and half of the tables are removed', ['blocks', ...others.slice(0, others.length / 2)]],
  ['the blocks and the other tables are removed', ['blocks', ...others.slice(others.length / 2)]],
  ['the facts are removed and the views are not', factTables],
  ['the facts are removed and the minutes are gone', [...factTables, 'peg_minutes']],
] as const)(
  'a crash in a rollback when %s',
  async ([, tables], { clickhouseEnv, clickhouse, copyBefore, expected }) => {
    await copyBefore(clickhouse, clickhouseEnv)
    const { number } = await blocks.head()
    const { kept_time } = await planRemovalAfter(clickhouse, number - 6)
    for (const table of tables) {
      const query =
        table === 'peg_minutes'
          ? `DELETE FROM peg_minutes WHERE minute_end >= ${kept_time}`
          : `DELETE FROM ${table} WHERE block_number > ${number - 6}`
      await clickhouse.command({ query })
    }
    const second = startIngest(clickhouseEnv, chain.rpcUrl)
    await ingestedHead(clickhouse, await blocks.head(), second)
    await second.kill('SIGTERM')
    expect(await fingerprint(clickhouse)).toEqual(expected)
    expect(await newestRollback(clickhouse)).toMatchObject({ sequence_number: 1, reason: 'test', done: true })
  },
)

test('an insert that was sent before a rollback adds none of the removed rows again', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const { number } = await blocks.head()
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, number)
  const planned = await planRemovalAfter(clickhouse, number - 3)
  // It takes ten seconds, so that a busy machine still sees it running.
  const slow = clickhouse.command({
    query: `INSERT INTO supply_events (kind, block_number, block_time, amount_raw)
      SELECT 'mint', ${number}, (SELECT max(block_time) FROM blocks), number + sleepEachRow(1) FROM numbers(10)`,
    clickhouse_settings: { max_block_size: '1' },
  })
  while ((await runningInserts(clickhouse)).length === 0) await sleep(5)
  const waits = new Set<string>()
  await completeRollback(clickhouse, planned, async (_what, step) => {
    for (;;) {
      try {
        return await step()
      } catch (error) {
        waits.add((error as Error).message)
        await sleep(50)
      }
    }
  })
  await slow
  expect(waits).toContain('an insert from before the rollback is still running')
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
  await ingestedHead(clickhouse, await blocks.head(), ingest)
  await ingest.kill('SIGTERM')
  expect(await fingerprint(clickhouse)).toEqual(await fresh())
})

test('a process that does not know of a rollback cannot plan a batch, and cannot roll back one that another process is writing', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, (await blocks.head()).number)
  const [one, other] = [await openLedger(clickhouse, 'tip', 1), await openLedger(clickhouse, 'tip', 1)]
  const plan = { ...(await planRemovalAfter(clickhouse, one.next - 2)), sequence_number: 0 }
  const batch = { from: one.next, to: one.next, lastHash: 'y' }
  await expect(planRollback(clickhouse, 'tip', plan)).rejects.toBeInstanceOf(LedgerError)
  await expect(other.plan(batch)).rejects.toBeInstanceOf(LedgerError)
  // The batch that was planned nevertheless is newer than the rollback, and is removed by the next one.
  const next = { ...plan, sequence_number: 1 }
  await expect(planRollback(clickhouse, 'tip', next)).rejects.toBeInstanceOf(LedgerError)
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
  await ingestedHead(clickhouse, await blocks.head(), ingest)
  await ingest.kill('SIGTERM')
  expect(await fingerprint(clickhouse)).toEqual(await fresh())
  expect((await newestRollback(clickhouse))?.sequence_number).toBeGreaterThan(1)
})

test('kills of ingest and of the engine during a rollback change no row and no window', {
  timeout: 600_000,
}, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-reorg-'))
  const account = { user: 'default', password: 'reorg' }
  let engine: Embedded = await spawnEmbedded({ dataDir, ...account })
  const env = {
    CLICKHOUSE_URL: engine.url,
    CLICKHOUSE_USER: account.user,
    CLICKHOUSE_PASSWORD: account.password,
    CLICKHOUSE_DATABASE: 'killed',
  }
  await migrate(env)
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const random = randomFor(SEED, 'kills')
  let ingest = startIngest(env, chain.rpcUrl)
  let hits = 0
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await ingestedHead(clickhouse, await blocks.head(), ingest)
      const before = await newestRollback(clickhouse)
      await blocks.reorg(random.int(1, 20), `kill ${round}`)
      const isPlanned = async () =>
        ((await newestRollback(clickhouse))?.sequence_number ?? 0) > (before?.sequence_number ?? 0)
      while (!(await isPlanned())) await sleep(5)
      await sleep(random.int(0, 300))
      await ingest.kill('SIGKILL')
      if (round % 2 === 1) {
        engine.child.kill('SIGKILL')
        await engine.exited
        engine = await spawnEmbedded({ dataDir, port: Number(new URL(engine.url).port), ...account })
      }
      if ((await newestRollback(clickhouse))?.done === false) hits++
      ingest = startIngest(env, chain.rpcUrl)
    }
    await ingestedHead(clickhouse, await blocks.head(), ingest)
    await ingest.kill('SIGTERM')
    expect(await fingerprint(clickhouse)).toEqual(await fresh())
    expect(hits).toBeGreaterThan(0)
  } finally {
    ingest.child.kill('SIGKILL')
    await clickhouse.close()
    await engine.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
})
