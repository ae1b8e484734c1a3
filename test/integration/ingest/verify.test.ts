import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ClickHouseEnv } from '../../../clickhouse/env.js'
import { factTables } from '../../../clickhouse/tables/facts.js'
import { stillChain, type TestChain } from '../../fixtures/chain.js'
import { faultyNode } from '../../fixtures/faulty-node.js'
import { ingestAll } from '../../fixtures/ingest.js'
import { test } from '../../fixtures/services.js'
import { mismatches, runVerify } from '../../fixtures/verify.js'

let chain: TestChain

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 60 })
})
afterAll(async () => {
  await chain?.remove()
})

const verify = (env: ClickHouseEnv, ...flags: string[]) => runVerify(env, chain.rpcUrl, ...flags)

const run = (clickhouse: ClickHouseClient, query: string) =>
  clickhouse.command({ query, clickhouse_settings: { mutations_sync: '2', lightweight_deletes_sync: '2' } })

describe('a database that has what the chain has', () => {
  test('matches, block by block made from the chain alone, and by a sample', async ({ clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const all = await verify(clickhouseEnv, '--all')
    expect(mismatches(all.output), all.output).toEqual([])
    expect(all.output).toMatch(/match +peg_samples row by row: \d{3,} rows\n/)
    expect(all.output).toContain('0 not checked')
    expect(all.code).toBe(0)
    const some = await verify(clickhouseEnv, '--blocks', '12', '--seed', '7')
    expect(some.code, some.output).toBe(0)
    expect(some.output).toMatch(/match +blocks row by row: 12 rows\n/)
  })
})

test('what a node has no state for any more is named as not checked, the logs are compared all the same', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
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

describe('damage is found and named', () => {
  test('in facts, views and sums', async ({ clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    // A row that is missing, one that is there twice, one that has another amount, and a state that nobody summed up.
    await run(clickhouse, 'DELETE FROM fees_paid WHERE block_number = (SELECT max(block_number) FROM fees_paid)')
    await run(
      clickhouse,
      "INSERT INTO supply_events SELECT * FROM supply_events WHERE kind != 'cap' ORDER BY block_number DESC, log_index DESC LIMIT 1",
    )
    await run(clickhouse, 'ALTER TABLE flows UPDATE usd_micros = usd_micros + 1 WHERE block_number > 30')
    await run(
      clickhouse,
      'INSERT INTO peg_minutes (stable, minute_end, quoted_count) SELECT stable, minute_end, 1 FROM peg_minutes LIMIT 1',
    )
    const { code, output } = await verify(clickhouseEnv, '--all')
    expect(code).toBe(1)
    expect(mismatches(output).sort(), output).toEqual([
      'facts fit the logs and transactions of their block',
      'fees = what the fee manager holds',
      'fees_paid row by row',
      'flows row by row',
      'mints minus burns = supply',
      'minute states add up',
      'supply_events row by row',
    ])
    expect(output).toMatch(/missing 1 times: .*"amount_raw"/)
    expect(output).toMatch(/there 1 times too often: .*"kind":"(mint|burn)"/)
  })

  test('in the chain of blocks and in samples', async ({ clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
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

  test('also in blocks that no sample looks at', async ({ clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    // A block with all of its facts, a stable with all of its samples, and a log that is there twice.
    for (const table of factTables) {
      await run(clickhouse, `DELETE FROM ${table} WHERE block_number = 30`)
    }
    await run(clickhouse, 'DELETE FROM peg_samples WHERE stable = (SELECT max(stable) FROM stablecoins)')
    await run(clickhouse, 'INSERT INTO fees_paid SELECT * FROM fees_paid WHERE block_number = 50 LIMIT 1')
    const { code, output } = await verify(clickhouseEnv, '--blocks', '1', '--seed', '3')
    expect(code).toBe(1)
    expect(output).toContain('blocks 30 to 30 are missing')
    expect(output).toContain('block 50 has a log twice in one table')
    expect(output).toMatch(/0x[0-9a-f]{40}: 0 samples of 0 blocks, where \d+ blocks are/)
  })
})

test('bad flags are named, all at once, with nothing read', async ({ clickhouseEnv }) => {
  const { code, output } = await verify(clickhouseEnv, '--blocks', 'x', '--seed=-1')
  expect(code).toBe(78)
  expect(output).toContain('--blocks')
  expect(output).toContain('--seed')
})
