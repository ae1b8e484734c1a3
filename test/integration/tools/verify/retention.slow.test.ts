import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { feesLetGoUntil } from '../../../../clickhouse/facts/retention.js'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { type BareChain, startBareChain } from '../../../../local/chain/bare-chain.js'
import { call } from '../../../../local/chain/calls.js'
import { backfillAll } from '../../../support/backfill.js'
import { ingestAll } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'

const BLOCKS = 120
const START = 41
const DAY = 86_400
const KEPT_DAYS = 30

let dir: string
let chain: BareChain

// A block and a fee every day.
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'plumbline-retention-'))
  chain = await startBareChain(dir, { genesisTimestamp: Math.floor(Date.now() / 1000) - (BLOCKS + 1) * DAY })
  const approve = { label: 'approve', from: accounts.maker, calls: [call.approveDex(Addresses.pathUsd)] }
  await chain.mine([approve])
  for (let block = 2; block <= BLOCKS; block++) {
    await chain.rpc.call('evm_increaseTime', [DAY])
    await chain.mine([approve])
  }
})
afterAll(async () => {
  await chain?.stop()
  await rm(dir, { recursive: true, force: true })
})

async function one(clickhouse: ClickHouseClient, query: string): Promise<string> {
  const answer = await clickhouse.query({ query, format: 'TabSeparated' })
  return (await answer.text()).trim()
}

const oldestFee = (clickhouse: ClickHouseClient) =>
  one(clickhouse, 'SELECT dateDiff(day, min(block_time), now()) FROM fees_paid').then(Number)

const ttl = (clickhouse: ClickHouseClient) =>
  one(
    clickhouse,
    "SELECT extract(create_table_query, 'TTL [^S]*') FROM system.tables WHERE database = currentDatabase() AND name = 'fees_paid'",
  )

test('what retention has let go is neither a difference nor written again, and stays known when all is kept again', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, BLOCKS, { START_BLOCK: `${START}` })
  expect(await feesLetGoUntil(clickhouse)).toBe(0)
  const whole = await oldestFee(clickhouse)
  expect(whole).toBeGreaterThan(50)

  for (let repeat = 0; repeat < 2; repeat++) await migrate({ ...clickhouseEnv, RETAIN_FEES_PAID_DAYS: KEPT_DAYS })
  expect(await ttl(clickhouse)).toContain(`block_time + toIntervalDay(${KEPT_DAYS})`)
  expect(await one(clickhouse, 'SELECT count() FROM retentions')).toBe('1')
  await clickhouse.command({ query: 'OPTIMIZE TABLE fees_paid FINAL' })
  // A month goes as a whole.
  const kept = await oldestFee(clickhouse)
  expect(kept).toBeLessThan(whole)
  expect(kept).toBeLessThanOrEqual(KEPT_DAYS + 31)

  const verified = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(verified.output), verified.output).toEqual([])
  expect(verified.output).toMatch(/match +fees_paid row by row: \d+ rows, without \d+ blocks whose rows were let go/)
  expect(verified.output).toMatch(/match +fees = what the fee manager holds/)

  // A batch that a crash left unfinished is repeated, and its old fees are not compared with what is gone.
  await clickhouse.command({ query: "DELETE FROM ingest_batches WHERE state = 'committed' AND track = 'tip'" })
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, BLOCKS)
  await backfillAll(clickhouseEnv, chain.rpcUrl, [], { BATCH_BLOCKS: '200' })
  expect(await oldestFee(clickhouse)).toBe(kept)

  // Damage that is younger is still found.
  await clickhouse.command({ query: 'DELETE FROM fees_paid WHERE block_time > now() - INTERVAL 3 DAY' })
  const damaged = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(damaged.output)).toEqual(['fees_paid row by row', 'fees = what the fee manager holds'])

  const until = await feesLetGoUntil(clickhouse)
  await migrate(clickhouseEnv)
  expect(await ttl(clickhouse)).toBe('')
  expect(await feesLetGoUntil(clickhouse)).toBeGreaterThanOrEqual(until)
})
