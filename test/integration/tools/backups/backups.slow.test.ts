import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FAMILIES, trackStart } from '../../../../clickhouse/chain/batches.js'
import { blockAt } from '../../../../clickhouse/chain/blocks.js'
import { coveredRanges } from '../../../../clickhouse/chain/covered-ranges.js'
import { insertChainHead } from '../../../../clickhouse/chain/heads.js'

import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { type ClickHouseEnv, connect } from '../../../../clickhouse/store/client.js'
import { openLedger } from '../../../../ingest/sinks/batch-ledger.js'
import { planRollback } from '../../../../ingest/sinks/roll-back.js'
import { type Embedded, spawnEmbedded } from '../../../../local/engine/spawn.js'
import { backfillAll } from '../../../support/backfill.js'
import { stillChain } from '../../../support/chain.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { depth } from '../../../support/depth.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedHead, ingestedTo, startIngest } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { changingChain } from '../../../support/reorgs.js'

const BLOCKS = 400
const PASSWORD = 'backups-test'

let directory: string
let chain: TestChain
let engine: Embedded

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plumbline-backups-'))
  chain = await stillChain({ historyBlocks: BLOCKS })
  engine = await spawnEmbedded({ dataDir: join(directory, 'source'), user: 'default', password: PASSWORD })
})
afterAll(async () => {
  await engine?.stop()
  await chain?.remove()
  await rm(directory, { recursive: true, force: true })
})

const envOf = (database: string, url = engine.url): ClickHouseEnv => ({
  CLICKHOUSE_URL: url,
  CLICKHOUSE_USER: 'default',
  CLICKHOUSE_PASSWORD: PASSWORD,
  CLICKHOUSE_DATABASE: database,
})

type Client = ReturnType<typeof connect>
type Outcome = { code: number; output: string }

/** Runs one of the programs, with its own engine or the file's. */
const program = (name: string, args: string[], url = engine.url): Promise<Outcome> => {
  const file = fileURLToPath(new URL(`../../../../dist/tools/backups/${name}-main.js`, import.meta.url))
  const env = { ...process.env, ...envOf('plumbline', url) }
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr })
    })
  })
}

async function withClient<Result>(
  database: string,
  use: (clickhouse: Client) => Promise<Result>,
  url?: string,
): Promise<Result> {
  const clickhouse = connect(envOf(database, url), { application: 'plumbline-test' })
  try {
    return await use(clickhouse)
  } finally {
    await clickhouse.close()
  }
}

const run = (query: string, url?: string) => withClient('default', (clickhouse) => clickhouse.command({ query }), url)

const rowsOf = (database: string, query: string, url?: string): Promise<unknown[]> =>
  withClient(database, async (to) => (await to.query({ query, format: 'JSONCompactEachRow' })).json(), url)

test('a backup taken while ingest writes is restored to a complete batch, from which ingest continues to the same facts', async () => {
  await migrate(envOf('written'))
  const ingest = startIngest(envOf('written'), chain.rpcUrl, { BATCH_BLOCKS: '7' })
  const names: string[] = []
  await withClient('written', async (clickhouse) => {
    await ingestedTo(clickhouse, 20, ingest)
    for (let i = 0; i < depth('BACKUPS', 1, 4); i++) {
      names.push(`written-${i}`)
      expect(await program('backup', ['--database', 'written', '--to', `written-${i}`])).toMatchObject({ code: 0 })
    }
    await ingestedTo(clickhouse, BLOCKS, ingest)
    await ingest.kill('SIGTERM')
    const expected = await fingerprint(clickhouse)
    // If a restored view still read from the old database, the comparison would show it.
    await clickhouse.command({ query: 'TRUNCATE TABLE blocks' })
    for (const name of names) {
      const as = name.replace('-', '_')
      const restored = await program('restore', ['--from', name, '--as', as])
      expect(restored, restored.output).toMatchObject({ code: 0 })
      expect(await migrate(envOf(as))).toEqual([])
      const again = startIngest(envOf(as), chain.rpcUrl)
      await withClient(as, async (client) => {
        await ingestedTo(client, BLOCKS, again)
        await again.kill('SIGTERM')
        expect(await fingerprint(client), restored.output).toEqual(expected)
        await client.command({ query: 'SYSTEM REFRESH VIEW peg_windows_mv' })
        await client.command({ query: 'SYSTEM WAIT VIEW peg_windows_mv' })
      })
      const windows = 'SELECT count(), max(as_of) > toDateTime(0) FROM peg_windows'
      expect(await rowsOf(as, windows)).toEqual([[expect.stringMatching(/^[1-9]/), 1]])
    }
  })
})

test('a backup taken during a rollback has none of the removed facts, and ingest continues from there', async () => {
  const own = await stillChain({ historyBlocks: 40 })
  try {
    const blocks = changingChain(own)
    await blocks.mine(8, 'first')
    const env = envOf('rolled')
    await migrate(env)
    await withClient('rolled', async (clickhouse) => {
      await ingestAll(env, clickhouse, own.rpcUrl, 48)
      const { sequence: after_sequence } = await openLedger(clickhouse, 'tip', 1)
      const kept = await blockAt(clickhouse, 43)
      if (!kept) throw new Error('block 43 is not in')
      const { block_hash: kept_hash, block_time: kept_time } = kept
      const plan = { sequence_number: 0, kept_block: 43, kept_hash, kept_time, removed_to: 48, after_sequence }
      await planRollback(clickhouse, 'tip', { ...plan, reason: 'test' })
      await clickhouse.command({ query: 'DELETE FROM flows WHERE block_number > 43' })
      expect(await program('backup', ['--database', 'rolled', '--to', 'rolled'])).toMatchObject({ code: 0 })
    })
    const restored = await program('restore', ['--from', 'rolled', '--as', 'rolled_back'])
    expect(restored, restored.output).toMatchObject({ code: 0 })
    expect(await rowsOf('rolled_back', 'SELECT max(block_number) FROM blocks')).toEqual([['43']])
    const [before, after] = await Promise.all(
      ['rolled', 'rolled_back'].map((database) => withClient(database, (clickhouse) => coveredRanges(clickhouse))),
    )
    expect(after).toEqual(before)
    await blocks.reorg(5, 'second')
    const [expected, found] = await Promise.all(
      ['rolled_fresh', 'rolled_back'].map(async (database) => {
        await migrate(envOf(database))
        return withClient(database, async (clickhouse) => {
          const ingest = startIngest(envOf(database), own.rpcUrl)
          await ingestedHead(clickhouse, await blocks.head(), ingest)
          await ingest.kill('SIGTERM')
          return fingerprint(clickhouse)
        })
      }),
    )
    expect(found).toEqual(expected)
  } finally {
    await own.remove()
  }
})

test('a backup during a backfill or rollback fails with an error; one during writes at the tip is complete', async () => {
  const own = await stillChain({ historyBlocks: 120 })
  const env = envOf('met')
  await migrate(env)
  const ingest = startIngest(env, own.rpcUrl, { START_BLOCK: '40' })
  const blocks = changingChain(own)
  /** A backup that has described the tables, and that only continues once `what` has happened. */
  const backupAfter = async (name: string, what: (clickhouse: Client) => Promise<unknown>): Promise<Outcome> => {
    const relay = await clickhouseRelay(engine.url)
    try {
      const release = relay.hold('insert_plumbline_manifest')
      const taken = program('backup', ['--database', 'met', '--to', name], relay.url)
      await expect.poll(() => relay.asked('insert_plumbline_manifest'), { timeout: 120_000 }).toBe(true)
      await withClient('met', what)
      release()
      return await taken
    } finally {
      await relay.close()
    }
  }
  const caughtUp = async (clickhouse: Client) => ingestedHead(clickhouse, await blocks.head(), ingest)
  try {
    await withClient('met', async (clickhouse) => {
      await caughtUp(clickhouse)
      await insertChainHead(clickhouse, { tag: 'finalized', block_number: 1, block_time: 1 })
    })
    const metTip = await backupAfter('met-tip', async (clickhouse) => {
      await blocks.mine(3, 'ahead')
      await caughtUp(clickhouse)
      await insertChainHead(clickhouse, { tag: 'finalized', block_number: 10_000, block_time: 2 })
    })
    expect(metTip, metTip.output).toMatchObject({ code: 0 })
    const restoredAhead = await program('restore', ['--from', 'met-tip', '--as', 'met_tip'])
    expect(restoredAhead, restoredAhead.output).toMatchObject({ code: 0 })
    const backfilled = await backupAfter('met-backfill', () => backfillAll(env, own.rpcUrl, ['--to', '19']))
    expect(backfilled).toMatchObject({
      code: 1,
      output: expect.stringMatching(/a backfill or a rollback wrote to blocks/),
    })
    const rolledBack = await backupAfter('met-rollback', async (clickhouse) => {
      await blocks.reorg(3, 'other')
      await caughtUp(clickhouse)
    })
    expect(rolledBack).toMatchObject({ code: 1, output: expect.stringContaining('ingest_rollbacks') })
    expect(await program('backup', ['--database', 'met', '--to', 'met-after'])).toMatchObject({ code: 0 })
    await ingest.kill('SIGTERM')
    const restored = await program('restore', ['--from', 'met-after', '--as', 'met_after'])
    expect(restored, restored.output).toMatchObject({ code: 0 })
    const [expected, found] = await Promise.all(
      ['met', 'met_after'].map((database) => withClient(database, fingerprint)),
    )
    expect(found).toEqual(expected)
  } finally {
    ingest.child.kill('SIGKILL')
    await own.remove()
  }
})

test('the rest of a batch that a rollback has shortened is in the backup, and in the restored ledger', async () => {
  const own = await stillChain({ historyBlocks: 40 })
  try {
    const blocks = changingChain(own)
    const noted = await blocks.note()
    await blocks.mine(8, 'first')
    await migrate(envOf('cut'))
    await withClient('cut', (clickhouse) => ingestAll(envOf('cut'), clickhouse, own.rpcUrl, 48))
    await noted.back()
    await blocks.mine(3, 'second')
    await withClient('cut', async (clickhouse) => {
      const ingest = startIngest(envOf('cut'), own.rpcUrl)
      await ingestedHead(clickhouse, await blocks.head(), ingest)
      await ingest.kill('SIGTERM')
    })
    expect(await program('backup', ['--database', 'cut', '--to', 'cut'])).toMatchObject({ code: 0 })
    const restored = await program('restore', ['--from', 'cut', '--as', 'cut_back'])
    expect(restored, restored.output).toMatchObject({ code: 0 })
    await withClient('cut_back', async (clickhouse) => {
      const whole = FAMILIES.map((family) => ({ family, stables: [], from_block: 1, to_block: 43 }))
      expect(await coveredRanges(clickhouse)).toEqual(whole)
      expect(await trackStart(clickhouse, { track: 'tip' })).toBe(1)
      expect(await openLedger(clickhouse, 'tip', 1)).toMatchObject({ next: 44, unfinished: null, last: { block: 43 } })
    })
  } finally {
    await own.remove()
  }
})

test('a backup can be restored on another server, with tables of every kind', async () => {
  for (const query of [
    'CREATE DATABASE moved',
    'CREATE TABLE moved.plain (a UInt64, b Nullable(String), c Array(Float64)) ENGINE = MergeTree ORDER BY a',
    'CREATE TABLE moved.newest (a UInt64, v UInt64) ENGINE = ReplacingMergeTree(v) ORDER BY a',
    'CREATE TABLE moved.small (a UInt64) ENGINE = Log',
    'CREATE TABLE moved.sums (m UInt64, s AggregateFunction(avg, UInt64)) ENGINE = AggregatingMergeTree ORDER BY m',
    'CREATE MATERIALIZED VIEW moved.sums_mv TO moved.sums AS SELECT a % 7 AS m, avgState(a) AS s FROM moved.plain GROUP BY m',
    'CREATE VIEW moved.read AS SELECT m, avgMerge(s) AS mean FROM moved.sums GROUP BY m',
    "INSERT INTO moved.plain SELECT number, if(number % 3 = 0, NULL, 'é'), [number, nan] FROM numbers(10000)",
    'INSERT INTO moved.newest SELECT number % 100, number FROM numbers(1000)',
    'INSERT INTO moved.newest SELECT number % 100, 7 FROM numbers(1000)',
    'INSERT INTO moved.small SELECT number FROM numbers(10)',
  ])
    await run(query)
  const taken = await program('backup', ['--database', 'moved', '--to', 'moved'])
  expect(taken).toMatchObject({ code: 0, output: expect.stringMatching(/^plain +10000 +\d+$/m) })
  const other = await spawnEmbedded({
    dataDir: join(directory, 'other'),
    backups: join(directory, 'source', 'backups'),
    user: 'default',
    password: PASSWORD,
  })
  try {
    const restored = await program('restore', ['--from', 'moved'], other.url)
    expect(restored, restored.output).toMatchObject({ code: 0 })
    expect(restored.output.match(/identical/g)).toHaveLength(4)
    const query = 'SELECT * FROM read ORDER BY m'
    expect(await rowsOf('moved', query, other.url)).toEqual(await rowsOf('moved', query))
    // The views still work.
    await run('INSERT INTO moved.plain (a) VALUES (7000000)', other.url)
    expect(await rowsOf('moved', 'SELECT count() FROM read WHERE m = 0 AND mean > 5000', other.url)).toEqual([['1']])
  } finally {
    await other.stop()
  }
})

test('rows deleted from a restored table are gone, however often rows were deleted before the backup', async () => {
  await run('CREATE DATABASE deleted')
  await run('CREATE TABLE deleted.t (a UInt64) ENGINE = MergeTree PARTITION BY a % 2 ORDER BY a')
  await run('INSERT INTO deleted.t SELECT number FROM numbers(100)')
  for (let a = 0; a < 10; a++) await run(`DELETE FROM deleted.t WHERE a = ${a}`)
  expect(await program('backup', ['--database', 'deleted', '--to', 'deleted'])).toMatchObject({ code: 0 })
  const restored = await program('restore', ['--from', 'deleted', '--as', 'deleted_back'])
  expect(restored, restored.output).toMatchObject({ code: 0, output: expect.stringMatching(/^t +90 +identical$/m) })
  await run('DELETE FROM deleted_back.t WHERE a >= 50')
  expect(await rowsOf('deleted_back', 'SELECT count(), min(a), max(a) FROM t')).toEqual([['40', '10', '49']])
})

test('nothing is overwritten, and each impossible request fails with an error', async () => {
  await run('CREATE DATABASE held')
  await run('CREATE TABLE held.t (a UInt8) ENGINE = MergeTree ORDER BY a')
  await run('INSERT INTO held.t SELECT number FROM numbers(100)')
  expect(await program('backup', ['--database', 'held', '--to', 'held'])).toMatchObject({ code: 0 })
  const refused: [string, string[], RegExp][] = [
    ['backup', ['--database', 'held', '--to', 'held'], /already exists/],
    ['backup', ['--database', 'nowhere', '--to', 'x'], /no database nowhere; the server has .*held/],
    ['backup', ['--database', 'held', '--to', '../held'], /backups\.allowed_path/],
    ['backup', ['--database', "a'b"], /CLICKHOUSE_DATABASE/],
    ['backup', ['--where', 'x'], /--where/],
    ['restore', ['--from', 'held'], /database held already exists: choose another name with --as/],
    ['restore', ['--from', 'held', '--as', 'default'], /database default already exists/],
    ['restore', ['--from', 'nothing'], /File\('nothing'\) not found/],
    ['restore', [], /--from: is required/],
  ]
  for (const [name, args, why] of refused) {
    expect(await program(name, args), args.join(' ')).toMatchObject({ code: 78, output: expect.stringMatching(why) })
  }
  expect(await rowsOf('held', 'SELECT count() FROM t')).toEqual([['100']])
  await run("BACKUP DATABASE held TO File('by-sql')")
  expect(await program('restore', ['--from', 'by-sql', '--as', 'x'])).toMatchObject({
    code: 78,
    output: expect.stringContaining('not taken by npm run backup'),
  })
  await run('CREATE TABLE held.log (a UInt8) ENGINE = Log')
  expect(await program('backup', ['--database', 'held', '--to', 'held.tar'])).toMatchObject({
    code: 78,
    output: expect.stringMatching(/^backup stops: log: .*archive/),
  })
  expect(await program('backup', ['--database', 'held', '--to', 'more', '--base', 'held'])).toMatchObject({ code: 0 })
  expect(await program('restore', ['--from', 'more', '--as', 'held_more'])).toMatchObject({ code: 0 })
  expect(await program('backup', [], 'http://127.0.0.1:1')).toMatchObject({ code: 1 })
})

test('a table that was written to during the backup is reported as different', async () => {
  await run('CREATE DATABASE busy')
  await run('CREATE TABLE busy.t (a UInt64) ENGINE = MergeTree ORDER BY a')
  await run('INSERT INTO busy.t SELECT number FROM numbers(3000000)')
  let isOver = false
  const writer = (async () => {
    while (!isOver) {
      await run('INSERT INTO busy.t SELECT 1')
      await sleep(5)
    }
  })()
  const taken = await program('backup', ['--database', 'busy', '--to', 'busy'])
  isOver = true
  await writer
  expect(taken).toMatchObject({ code: 0, output: expect.stringContaining('t was written to during the backup') })
  const restored = await program('restore', ['--from', 'busy', '--as', 'busy_back'])
  expect(restored).toMatchObject({
    code: 1,
    output: expect.stringMatching(/t differs: it has \d+ rows, and had \d+ when the backup began/),
  })
})

test('the database default of the embedded engine is restored as an ordinary one', async () => {
  await run('CREATE TABLE default.kept (a UInt8) ENGINE = MergeTree ORDER BY a')
  await run('INSERT INTO default.kept SELECT 1')
  expect(await program('backup', ['--database', 'default', '--to', 'default.tar.zst'])).toMatchObject({ code: 0 })
  expect(await program('restore', ['--from', 'default.tar.zst', '--as', 'was_default'])).toMatchObject({ code: 0 })
  expect(await rowsOf('was_default', 'SELECT a FROM kept')).toEqual([[1]])
})
