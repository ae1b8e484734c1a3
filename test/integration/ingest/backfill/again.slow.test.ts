import type { ClickHouseClient } from '@clickhouse/client'
import { keccak256, toEventSelector, toHex } from 'viem'
import { Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { unaccountedBackfill } from '../../../../clickhouse/chain/history-changes.js'
import { rebuildFlowBuckets } from '../../../../clickhouse/flows/buckets.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { test } from '../../../support/app.js'
import { backfillAll, startBackfill } from '../../../support/backfill.js'
import { type T12Chain, t12Chain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { copyHistory } from '../../../support/ingested.js'
import { mismatches, runVerify } from '../../../support/verify.js'

/** 64 blocks are not final, and up to seven before them are of the same quarter of an hour. */
const BLOCKS = 105
/** Up to it, an older version did not know some events. */
const LAST = 30
const BURN_AT = toEventSelector('BurnAt(address,address,uint256)')
const FILLED = toEventSelector('OrderFilled(uint128,address,address,uint128,bool)')
const ROLE = toEventSelector('RoleMembershipUpdated(bytes32,address,address,bool)')
/** An event that this version does not know. */
const UNKNOWN = keccak256(toHex('EventOfT13(uint256)'))

/** The first block with such an event. */
const FIRST = "FROM supply_events WHERE kind = 'burn_at' ORDER BY supply_events.block_number LIMIT 1"

/** The programs of a test start several times, on a machine that may be busy. */
const PATIENT_MS = 400_000

let chain: T12Chain
beforeAll(async () => {
  chain = await t12Chain({ seed: 1, historyBlocks: BLOCKS, blockSeconds: 120, actions: 21 })
}, 60_000)
afterAll(() => chain.remove())

async function rowsOf<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()
}
const unknownOf = (clickhouse: ClickHouseClient): Promise<Array<{ topic: string; rows: number }>> =>
  rowsOf(clickhouse, 'SELECT topic, toUInt32(count()) AS rows FROM unknown_events GROUP BY topic ORDER BY topic')

type Forgotten = { table: string; where?: string; emitter: string; contract: string; topic: string }

/** Makes the events of a table's rows ones that were unknown when their blocks were read. */
async function forget(clickhouse: ClickHouseClient, { table, where = '1', emitter, contract, topic }: Forgotten) {
  const rows = `${where} AND block_number <= ${LAST}`
  await clickhouse.command({
    query: `
      INSERT INTO unknown_events (emitter, contract, topic, reason, log_count, block_number, log_index, block_time, tx_hash)
      SELECT '${emitter}', ${contract} AS of, '${topic}', 'topic', count(), block_number, min(log_index), any(block_time), argMin(tx_hash, log_index)
      FROM ${table} WHERE ${rows} GROUP BY block_number, of`,
  })
  await clickhouse.command({ query: `DELETE FROM ${table} WHERE ${rows}` })
}

/** Leaves a database as a version would have that knew neither BurnAt nor fills. */
async function forgetBurnsAndFills(clickhouse: ClickHouseClient): Promise<void> {
  const ofTransactions = (from: string) =>
    `DELETE FROM flows WHERE tx_hash IN (SELECT tx_hash FROM ${from} AND block_number <= ${LAST})`
  await clickhouse.command({ query: ofTransactions("supply_events WHERE kind = 'burn_at'") })
  await clickhouse.command({ query: ofTransactions('dex_fills WHERE 1') })
  await forget(clickhouse, {
    ...{ table: 'supply_events', where: "kind = 'burn_at'", emitter: 'token', contract: 'stable', topic: BURN_AT },
  })
  const exchange = `'${Addresses.stablecoinDex}'`
  await forget(clickhouse, { table: 'dex_fills', emitter: 'exchange', contract: exchange, topic: FILLED })
  await rebuildFlowBuckets(clickhouse, { first: 0, last: 2 ** 32 - 1 })
}

/** A database with the whole chain, as this version takes it in. */
async function takenIn(clickhouse: ClickHouseClient, env: ClickHouseEnv): Promise<Record<string, unknown>> {
  await copyHistory(chain, clickhouse, env)
  return fingerprint(clickhouse)
}

const again = (env: ClickHouseEnv, ...flags: string[]) =>
  backfillAll(env, chain.rpcUrl, ['--again', ...flags], { BATCH_BLOCKS: '7' })

test(
  'rows of events that are known by now are added, and answers are complete again',
  async ({ app, clickhouse, clickhouseEnv, clock }) => {
    const expected = await takenIn(clickhouse, clickhouseEnv)
    const [burn] = await rowsOf<{ stable: string }>(
      clickhouse,
      `SELECT stable FROM supply_events WHERE kind = 'burn_at' AND block_number <= ${LAST} LIMIT 1`,
    )
    clock.now = new Date(((await chain.blocks()).at(-1)?.time as number) + 2000)
    const reasons = async (): Promise<string[]> => {
      const { coverage } = (await app.inject(`/api/v1/stablecoins/${burn?.stable}/issuance`)).json()
      return coverage.missing.map(({ reason }: { reason: string }) => reason)
    }
    await forgetBurnsAndFills(clickhouse)
    expect((await unknownOf(clickhouse)).map(({ topic }) => topic)).toEqual([BURN_AT, FILLED].sort())
    expect(await fingerprint(clickhouse)).not.toEqual(expected)
    clock.now = new Date(clock.now.getTime() + 6000)
    await expect.poll(reasons).toContain('unknown_event')

    const output = await again(clickhouseEnv)
    expect(output).toMatch(/backfill is done: \d+ blocks, [1-9]\d* rows/)
    expect(await unknownOf(clickhouse)).toEqual([])
    expect(await fingerprint(clickhouse)).toEqual(expected)
    clock.now = new Date(clock.now.getTime() + 6000)
    await expect.poll(reasons).not.toContain('unknown_event')
    // The jobs do the slots again.
    const [first] = await rowsOf<{ time: number }>(clickhouse, `SELECT toUnixTimestamp(block_time) AS time ${FIRST}`)
    const change = await unaccountedBackfill(clickhouse, { quiet_seconds: 0 })
    expect(change?.oldest_time).toBeLessThanOrEqual(first?.time as number)
    const { code, output: verified } = await runVerify(clickhouseEnv, chain.rpcUrl)
    expect([mismatches(verified), code]).toEqual([[], 0])

    expect(await again(clickhouseEnv)).toContain('backfill is done: 0 blocks, 0 rows')
    expect(await again(clickhouseEnv, '--from', '1')).toMatch(/backfill is done: \d\d blocks, 0 rows/)
    expect(await fingerprint(clickhouse)).toEqual(expected)
  },
  PATIENT_MS,
)

test(
  'a run that was killed between its inserts is completed by the next, and by no other backfill',
  async ({ clickhouse, clickhouseEnv }) => {
    const expected = await takenIn(clickhouse, clickhouseEnv)
    await forgetBurnsAndFills(clickhouse)
    await again(clickhouseEnv, '--to', '15')
    const { from_block, to_block } = (await newestBatch(clickhouse, { track: 'backfill' })) as NonNullable<
      Awaited<ReturnType<typeof newestBatch>>
    >
    // As if the last batch had stored some of its rows.
    await clickhouse.command({
      query: `DELETE FROM ingest_batches WHERE track = 'backfill' AND state = 'committed' AND from_block = ${from_block}`,
    })
    await clickhouse.command({
      query: `DELETE FROM flows WHERE block_number BETWEEN ${from_block} AND ${to_block} AND log_index % 2 = 0`,
    })
    expect((await unknownOf(clickhouse)).length).toBeGreaterThan(0)
    const other = startBackfill(clickhouseEnv, chain.rpcUrl)
    expect((await other.exited).code).toBe(78)
    expect(other.output()).toContain('--again')
    await again(clickhouseEnv)
    expect(await unknownOf(clickhouse)).toEqual([])
    expect(await fingerprint(clickhouse)).toEqual(expected)
  },
  PATIENT_MS,
)

test(
  'where a stored row differs from the chain, nothing is written and the events stay unknown',
  async ({ clickhouse, clickhouseEnv }) => {
    await takenIn(clickhouse, clickhouseEnv)
    await forgetBurnsAndFills(clickhouse)
    const [{ block } = { block: 0 }] = await rowsOf<{ block: number }>(
      clickhouse,
      `SELECT toUInt32(min(block_number)) AS block FROM unknown_events`,
    )
    await clickhouse.command({
      query: `INSERT INTO logo_updates SELECT * REPLACE (${block} AS block_number, 9999 AS log_index,
            (SELECT block_time FROM blocks WHERE block_number = ${block}) AS block_time) FROM logo_updates LIMIT 1`,
    })
    const before = await fingerprint(clickhouse)
    const running = startBackfill(clickhouseEnv, chain.rpcUrl, ['--again'])
    expect((await running.exited).code).toBe(78)
    expect(running.output()).toContain('logo_updates 1x')
    expect(await fingerprint(clickhouse)).toEqual(before)
  },
  PATIENT_MS,
)

test(
  'where rows of the catalogue are missing, on which later blocks depend, nothing is written and the events stay unknown',
  async ({ clickhouse, clickhouseEnv }) => {
    await takenIn(clickhouse, clickhouseEnv)
    await forget(clickhouse, { table: 'role_events', emitter: 'token', contract: 'stable', topic: ROLE })
    const [unknown, before] = [await unknownOf(clickhouse), await fingerprint(clickhouse)]
    const running = startBackfill(clickhouseEnv, chain.rpcUrl, ['--again'])
    expect((await running.exited).code).toBe(78)
    expect(running.output()).toContain('lack rows of the catalogue (role_events)')
    expect([await unknownOf(clickhouse), await fingerprint(clickhouse)]).toEqual([unknown, before])
  },
  PATIENT_MS,
)

test(
  'an event that this version does not know stays',
  async ({ clickhouse, clickhouseEnv }) => {
    const own = await t12Chain({ seed: 1, historyBlocks: BLOCKS, blockSeconds: 120, actions: 21 })
    try {
      own.inject({ block: 20, address: Addresses.tip403Registry, topics: [UNKNOWN], data: '0x01' })
      await ingestAll(clickhouseEnv, clickhouse, own.rpcUrl, own.head)
      const expected = await fingerprint(clickhouse)
      await forgetBurnsAndFills(clickhouse)
      await backfillAll(clickhouseEnv, own.rpcUrl, ['--again'])
      expect(await unknownOf(clickhouse)).toEqual([{ topic: UNKNOWN, rows: 1 }])
      expect(await fingerprint(clickhouse)).toEqual(expected)
    } finally {
      await own.remove()
    }
  },
  PATIENT_MS,
)
