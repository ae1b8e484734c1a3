import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { stillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedTo, startIngest } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'

const PROGRAM = fileURLToPath(new URL('../../../../dist/tools/rebuild/rebuild-main.js', import.meta.url))

function startRebuild(env: ClickHouseEnv, ...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output })),
  )
  return { child, ended }
}
const rebuild = (env: ClickHouseEnv, ...args: string[]) => startRebuild(env, ...args).ended

test('a table with wrong rows is rebuilt, and its view then fills the new one', { timeout: 400_000 }, async ({
  clickhouseEnv,
  clickhouse,
}) => {
  // More than a day, at twenty minutes per block.
  const chain = await stillChain({ historyBlocks: 90, blockSeconds: 1200 })
  try {
    const half = startIngest(clickhouseEnv, chain.rpcUrl, { BATCH_BLOCKS: '10' })
    await ingestedTo(clickhouse, 20, half)
    await half.kill('SIGTERM')
    // Stopped between two batches, or within one, which is then finished first.
    const expected = await rebuildUntouched(clickhouseEnv, chain.rpcUrl, clickhouse)
    await clickhouse.command({
      query:
        'INSERT INTO peg_minutes (stable, minute_end, quoted_count) SELECT stable, minute_end, 5 FROM peg_minutes LIMIT 1',
    })
    expect(await fingerprint(clickhouse)).not.toEqual(expected)

    const { code, output } = await rebuild(clickhouseEnv, 'peg_minutes')
    expect(code, output).toBe(0)
    expect(output).toMatch(/old: \{.*"quoted_count":"6"/)
    expect(output).toMatch(/new: \{.*"quoted_count":"1"/)
    expect(output).toMatch(/\d days rebuilt, 2 rows differed/)
    expect(await fingerprint(clickhouse)).toEqual(expected)

    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const again = await rebuild(clickhouseEnv, 'peg_minutes')
    expect(again.code, again.output).toBe(0)
    expect(again.output).toMatch(/[2-9] days rebuilt, 0 rows differed/)
  } finally {
    await chain.remove()
  }
})

/** Rebuilds a correct table once no batch is unfinished; resolves to the fingerprint of the database at that time. */
async function rebuildUntouched(
  env: ClickHouseEnv,
  rpcUrl: string,
  clickhouse: Parameters<typeof fingerprint>[0],
): Promise<unknown> {
  let { code, output } = await rebuild(env, 'peg_minutes')
  if (code === 1 && output.includes('unfinished')) {
    const ingest = startIngest(env, rpcUrl, { BATCH_BLOCKS: '10' })
    await ingestedTo(clickhouse, 90, ingest)
    await ingest.kill('SIGTERM')
    ;({ code, output } = await rebuild(env, 'peg_minutes'))
  }
  expect(code, output).toBe(0)
  expect(output).toContain('0 rows differed')
  return fingerprint(clickhouse)
}

test('a rebuild that is killed at any moment leaves a complete table in use, and the next rebuild works', {
  timeout: 300_000,
}, async ({ clickhouseEnv, clickhouse }) => {
  const chain = await stillChain({ historyBlocks: 120 })
  try {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const expected = await fingerprint(clickhouse)
    const startsInside = async () =>
      (await (await clickhouse.query({ query: 'EXISTS peg_minutes_rebuilt', format: 'TabSeparated' })).text()) === '1\n'
    for (let kill = 0; kill < 4; kill++) {
      const { child, ended } = startRebuild(clickhouseEnv, 'peg_minutes')
      while (child.exitCode === null && !(await startsInside())) await sleep(2)
      await sleep(kill * 20)
      child.kill('SIGKILL')
      await ended
      expect(await fingerprint(clickhouse)).toEqual(expected)
    }
    // The state that a kill before the switch leaves, whether or not one of these kills left it.
    await clickhouse.command({ query: 'CREATE TABLE IF NOT EXISTS peg_minutes_rebuilt AS peg_minutes' })
    await clickhouse.command({ query: 'INSERT INTO peg_minutes_rebuilt SELECT * FROM peg_minutes LIMIT 3' })
    const { code, output } = await rebuild(clickhouseEnv, 'peg_minutes')
    expect(code, output).toBe(0)
    expect(await fingerprint(clickhouse)).toEqual(expected)
  } finally {
    await chain.remove()
  }
})

test('a rebuild while ingest writes is refused and changes nothing', async ({ clickhouseEnv, clickhouse }) => {
  const chain = await stillChain({ historyBlocks: 60 })
  try {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const expected = await fingerprint(clickhouse)
    // The ledger's state while a batch is unfinished.
    await clickhouse.command({
      query: `INSERT INTO ingest_batches (track, sequence_number, state, from_block, to_block, last_hash, writer, families)
        SELECT 'tip', max(sequence_number) + 1, 'planned', 61, 70, '', 'test', ['catalogue', 'logs', 'pegs', 'state'] FROM ingest_batches`,
    })
    const { code, output } = await rebuild(clickhouseEnv, 'peg_minutes')
    expect(code).toBe(1)
    expect(output).toContain('unfinished: let ingest finish it')
    expect(await fingerprint(clickhouse)).toEqual(expected)
  } finally {
    await chain.remove()
  }
})

test('a view that is being refreshed meanwhile is not taken for a writer', async ({ clickhouseEnv, clickhouse }) => {
  await clickhouse.command({ query: 'CREATE TABLE refreshed (n UInt64) ENGINE = MergeTree ORDER BY n' })
  await clickhouse.command({
    query: `CREATE MATERIALIZED VIEW refreshing REFRESH EVERY 1 DAY APPEND TO refreshed AS
      SELECT number + sleepEachRow(3) AS n FROM numbers(1000) SETTINGS max_block_size = 1`,
  })
  // The engine's other databases are other test files', and they insert too.
  const refreshes = async () => {
    const query = `SELECT count() FROM system.processes
      WHERE query_kind = 'Insert' AND current_database = currentDatabase() AND query LIKE '%sleepEachRow%'`
    return (await clickhouse.query({ query, format: 'TabSeparated' })).text()
  }
  await expect.poll(refreshes).toBe('1\n')
  const { code, output } = await rebuild(clickhouseEnv, 'peg_minutes')
  expect(code, output).toBe(0)
  expect(await refreshes()).toBe('1\n')
  await clickhouse.command({ query: 'DROP VIEW refreshing SYNC' })
})

test('without the name of a table, the error lists all names', async ({ clickhouseEnv }) => {
  expect(await rebuild(clickhouseEnv, 'blocks')).toEqual({ code: 78, output: expect.stringContaining('peg_minutes') })
})
