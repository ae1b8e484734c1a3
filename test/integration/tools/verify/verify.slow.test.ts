import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { chainHead } from '../../../../clickhouse/chain/heads.js'
import { newestVerifyRun } from '../../../../clickhouse/chain/verify-runs.js'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { backfillAll } from '../../../support/backfill.js'
import { stillChain } from '../../../support/chain.js'
import { faultyNode } from '../../../support/faulty-node.js'
import { ingestAll } from '../../../support/ingest.js'
import { type CopyTo, withIngested } from '../../../support/ingested.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test as base } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'

/** The first stored block of the long chain. */
const START = 80
const BLOCKS = 150

let chain: TestChain
let long: TestChain

beforeAll(async () => {
  ;[chain, long] = await Promise.all([stillChain({ historyBlocks: 60 }), stillChain({ historyBlocks: BLOCKS })])
})
afterAll(async () => {
  await Promise.all([chain?.remove(), long?.remove()])
})

const test = base.extend<{ copyChain: CopyTo; copyTip: CopyTo }>({
  copyChain: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withIngested(chain, {}, use),
    { scope: 'file' },
  ],
  copyTip: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withIngested(long, { START_BLOCK: `${START}` }, use),
    { scope: 'file' },
  ],
})

const verify = (env: ClickHouseEnv, ...flags: string[]) => runVerify(env, chain.rpcUrl, ...flags)

async function stablesOf(clickhouse: ClickHouseClient): Promise<string[]> {
  const rows = await clickhouse.query({ query: 'SELECT DISTINCT base FROM dex_orders ORDER BY base', format: 'JSON' })
  return (await rows.json<{ base: string }>()).data.map(({ base }) => base)
}

const run = (clickhouse: ClickHouseClient, query: string) =>
  clickhouse.command({ query, clickhouse_settings: { mutations_sync: '2', lightweight_deletes_sync: '2' } })

describe('a database with all data of the chain', () => {
  test('matches the chain, both block by block and in a sample', async ({ clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const all = await verify(clickhouseEnv, '--all')
    expect(mismatches(all.output), all.output).toEqual([])
    expect(all.output).toMatch(/match +peg_samples row by row: \d{3,} rows\n/)
    expect(all.output).toContain('0 not checked')
    expect(all.code).toBe(0)
    const recorded = await newestVerifyRun(clickhouse)
    expect(recorded.map(({ status, what, scope }) => `${status.padEnd(11)}  ${what}: ${scope}`)).toEqual(
      all.output.split('\n').slice(0, recorded.length),
    )
    expect(all.output).toContain(`${recorded.length} match`)
    expect(await chainHead(clickhouse)).toMatchObject({ tag: 'latest', block_number: chain.head })
    const some = await verify(clickhouseEnv, '--blocks', '12', '--seed', '7')
    expect(some.code, some.output).toBe(0)
    expect(some.output).toMatch(/match +blocks row by row: 12 rows\n/)
  })
})

test('data whose state the node has pruned is reported as not checked, and logs are still compared', async ({
  clickhouseEnv,
  clickhouse,
  copyChain,
}) => {
  await copyChain(clickhouse, clickhouseEnv)
  const pruned = await faultyNode(chain.rpcUrl, () => 'pruned')
  const before = await runVerify(clickhouseEnv, pruned.url, '--all')
  expect(before.code, before.output).toBe(0)
  expect(before.output).toMatch(/not checked +peg_samples row by row: 0 rows, without 60 blocks/)
  expect(before.output).toMatch(/not checked +mints minus burns = supply/)
  expect(before.output).toMatch(/\nmatch +fees_paid row by row: \d{2,} rows, without 1 blocks/)
  await run(clickhouse, 'DELETE FROM fees_paid WHERE block_number = 31')
  const after = await runVerify(clickhouseEnv, pruned.url, '--all')
  await pruned.close()
  expect(after.code, after.output).toBe(1)
  expect(mismatches(after.output)).toEqual(['fees_paid row by row'])
})

describe.concurrent('damage is found and reported', () => {
  test('in facts, views and sums', async ({ clickhouseEnv, clickhouse, copyChain }) => {
    await copyChain(clickhouse, clickhouseEnv)
    // A missing row, a duplicate row, one with another amount, a state that is not summed up, and a choice that nobody made.
    await run(clickhouse, 'DELETE FROM fees_paid WHERE block_number = (SELECT max(block_number) FROM fees_paid)')
    await run(
      clickhouse,
      "INSERT INTO supply_events SELECT * FROM supply_events WHERE kind != 'cap' AND amount_raw > 0 ORDER BY block_number DESC, log_index DESC LIMIT 1",
    )
    await run(clickhouse, 'ALTER TABLE flows UPDATE usd_micros = usd_micros + 1 WHERE block_number > 30')
    await run(
      clickhouse,
      'INSERT INTO peg_minutes (stable, minute_end, quoted_count) SELECT stable, minute_end, 1 FROM peg_minutes LIMIT 1',
    )
    await run(
      clickhouse,
      "INSERT INTO fee_choices (months, span_start, chosen, position) SELECT 12, '2026-01-01 00:00:00', 'x', 1",
    )
    const { code, output } = await verify(clickhouseEnv, '--all')
    expect(code).toBe(1)
    expect(mismatches(output).sort(), output).toEqual([
      'facts fit the logs and transactions of their block',
      'fees = what the fee manager holds',
      'fees_paid row by row',
      'flow buckets add up',
      'flows row by row',
      'last choices of fee tokens are kept',
      'mints minus burns = supply',
      'minute states add up',
      'supply_events row by row',
    ])
    expect(output).toMatch(/1 missing: .*"amount_raw"/)
    expect(output).toMatch(/1 too many: .*"kind":"(mint|burn|burn_blocked|burn_at)"/)
  })

  test('in the chain of blocks and in samples', async ({ clickhouseEnv, clickhouse, copyChain }) => {
    await copyChain(clickhouse, clickhouseEnv)
    await run(clickhouse, `ALTER TABLE blocks UPDATE parent_hash = block_hash WHERE block_number = 20`)
    await run(clickhouse, 'INSERT INTO peg_samples SELECT * FROM peg_samples WHERE block_number = 40 LIMIT 1')
    await run(
      clickhouse,
      'INSERT INTO state_reads SELECT * REPLACE (block_time + 1 AS block_time) FROM state_reads ORDER BY block_number LIMIT 1',
    )
    const { code, output } = await verify(clickhouseEnv, '--all')
    expect(code).toBe(1)
    expect(mismatches(output), output).toEqual(
      expect.arrayContaining([
        'blocks row by row',
        'peg_samples row by row',
        'state_reads row by row',
        'each block is the child of the one before',
        'every fact stands in a block, at its time',
        'one sample a stable and block',
      ]),
    )
  })

  test('also in blocks outside of samples', async ({ clickhouseEnv, clickhouse, copyChain }) => {
    await copyChain(clickhouse, clickhouseEnv)
    // A block with all of its facts, a stable with all of its samples, and a duplicate log.
    for (const table of factTables) {
      await run(clickhouse, `DELETE FROM ${table} WHERE block_number = 30`)
    }
    await run(clickhouse, 'DELETE FROM peg_samples WHERE stable = (SELECT max(stable) FROM stablecoins)')
    await run(clickhouse, 'INSERT INTO fees_paid SELECT * FROM fees_paid WHERE block_number = 50 LIMIT 1')
    const { code, output } = await verify(clickhouseEnv, '--blocks', '1', '--seed', '3')
    expect(code).toBe(1)
    expect(output).toContain('blocks 30 to 30 are missing')
    expect(output).toContain('block 50 has a log twice in one table')
    expect(output).toMatch(/0x[0-9a-f]{40}: 0 samples of 0 blocks, instead of \d+/)
  })
})

describe.concurrent('a history that starts in the middle of the chain', () => {
  const verifyLong = (env: ClickHouseEnv, ...flags: string[]) => runVerify(env, long.rpcUrl, ...flags)

  test('is compared as far as it is stored: whole families, single stables, and the catalogue of the rest', {
    timeout: 600_000,
  }, async ({ clickhouseEnv, clickhouse, copyTip }) => {
    await copyTip(clickhouse, clickhouseEnv)
    const tip = await verifyLong(clickhouseEnv, '--all')
    expect(tip.code, tip.output).toBe(0)
    expect(tip.output).toContain('0 not checked')
    expect(tip.output).toMatch(new RegExp(`match +blocks row by row: ${BLOCKS - START + 1} rows\\n`))
    expect(tip.output).toMatch(/one sample a stable and block: .* are not in\n/)

    const [stable] = await stablesOf(clickhouse)
    await backfillAll(clickhouseEnv, long.rpcUrl, [
      '--from',
      '20',
      '--to',
      '39',
      '--only',
      'pegs',
      '--stables',
      `${stable}`,
    ])
    await backfillAll(clickhouseEnv, long.rpcUrl, ['--from', '30', '--to', '49', '--only', 'logs'])
    await backfillAll(clickhouseEnv, long.rpcUrl, ['--from', '60', '--to', '69'])
    const parts = await verifyLong(clickhouseEnv, '--all')
    expect(parts.code, parts.output).toBe(0)
    expect(parts.output).toMatch(new RegExp(`match +blocks row by row: ${BLOCKS - START + 1 + 30} rows\\n`))
    const some = await verifyLong(clickhouseEnv, '--blocks', '25', '--seed', '5')
    expect(some.code, some.output).toBe(0)

    // Missing rows of the stored parts are found, in each of them.
    await run(clickhouse, `DELETE FROM peg_samples WHERE block_number = 25 AND stable = '${stable}'`)
    await run(clickhouse, 'DELETE FROM blocks WHERE block_number = 60')
    await run(
      clickhouse,
      'DELETE FROM fees_paid WHERE block_number = (SELECT max(block_number) FROM fees_paid WHERE block_number < 50)',
    )
    await run(clickhouse, 'DELETE FROM dex_orders WHERE order_id = (SELECT min(order_id) FROM dex_orders)')
    const damaged = await verifyLong(clickhouseEnv, '--all')
    expect(damaged.code).toBe(1)
    expect(mismatches(damaged.output), damaged.output).toEqual(
      expect.arrayContaining([
        'peg_samples row by row',
        'blocks row by row',
        'fees_paid row by row',
        'dex_orders row by row',
        'each block is the child of the one before',
        'one sample a stable and block',
      ]),
    )
    expect(damaged.output).toContain('9 of the 10 blocks 60 to 69 are stored')
  })

  test('has no prices if the node had pruned them, which is not a mismatch', async ({
    clickhouseEnv,
    clickhouse,
    copyTip,
  }) => {
    const pruned = await faultyNode(long.rpcUrl, () => 'pruned')
    await copyTip(clickhouse, clickhouseEnv)
    // Without earlier orders the books are unknown, so that only the state says what flows are worth.
    const early = "event = 'OrderPlaced' AND block_number < 50"
    await run(clickhouse, `CREATE TABLE early_orders ENGINE = Log AS SELECT * FROM exchange_events WHERE ${early}`)
    await run(clickhouse, `DELETE FROM exchange_events WHERE ${early}`)
    await backfillAll(clickhouseEnv, pruned.url, ['--from', '50'])
    await run(clickhouse, 'INSERT INTO exchange_events SELECT * FROM early_orders')
    await run(clickhouse, 'DROP TABLE early_orders')
    await pruned.close()
    const { code, output } = await verifyLong(clickhouseEnv, '--all')
    expect(code, output).toBe(0)
    expect(output).toMatch(/flows row by row: \d+ rows, without \d+ blocks that are declared to have no values/)
  })
})

test('an empty database has nothing to verify', async ({ clickhouseEnv }) => {
  const { code, output } = await verify(clickhouseEnv)
  expect(code).not.toBe(0)
  expect(output).toContain('no blocks are stored yet')
})

test('one error names all bad flags before anything is read', async ({ clickhouseEnv }) => {
  const { code, output } = await verify(clickhouseEnv, '--blocks', 'x', '--seed=-1')
  expect(code).toBe(78)
  expect(output).toContain('--blocks')
  expect(output).toContain('--seed')
})
