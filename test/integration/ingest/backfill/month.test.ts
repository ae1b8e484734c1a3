import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Address } from 'viem'
import { Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { TABLES } from '../../../../clickhouse/tables.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { type BareChain, startBareChain } from '../../../../local/chain/bare-chain.js'
import { call } from '../../../../local/chain/calls.js'
import { backfillAll } from '../../../support/backfill.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'

const BLOCKS = 110
const START = 41
const TOKEN = 10n ** 6n

const DAY = 86_400
const ALPHA = Addresses.pathUsd.replace(/0$/, '1') as Address

let dir: string
let chain: BareChain

// One block a day: months end among the blocks before START, and after it.
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'plumbline-months-'))
  chain = await startBareChain(dir, { genesisTimestamp: Math.floor(Date.now() / 1000) - (BLOCKS + 1) * DAY })
  const { maker, traders } = accounts
  const bid = call.place(ALPHA, { amount: 10_000n * TOKEN, isBid: true, tick: -100 })
  const swap = call.swap(ALPHA, Addresses.pathUsd, {
    tokenIn: ALPHA,
    tokenOut: Addresses.pathUsd,
    exact: 'in',
    amount: TOKEN,
  })
  await chain.mine([
    { label: 'bid', from: maker, calls: [call.approveDex(Addresses.pathUsd), bid] },
    { label: 'approve', from: traders[0], calls: [call.approveDex(ALPHA)] },
  ])
  for (let block = 2; block <= BLOCKS; block++) {
    await chain.rpc.call('evm_increaseTime', [DAY])
    await chain.mine(block % 4 === 0 ? [{ label: 'swap', from: traders[0], calls: [swap] }] : [])
  }
})
afterAll(async () => {
  await chain?.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Removes rows of a track's only batch, as if its insert had been killed between two months. */
async function halve(clickhouse: ClickHouseClient, track: string, kept: 'min' | 'max'): Promise<void> {
  const batch = await newestBatch(clickhouse, { track })
  const ofBatch = `block_number BETWEEN ${batch?.from_block} AND ${batch?.to_block}`
  const answer = await clickhouse.query({
    query: `SELECT ${kept}(toYYYYMM(block_time)), uniqExact(toYYYYMM(block_time)) FROM blocks WHERE ${ofBatch}`,
    format: 'TabSeparated',
  })
  const [month, months] = (await answer.text()).split('\t').map(Number)
  expect(months, JSON.stringify(batch)).toBeGreaterThan(1)
  await clickhouse.command({ query: `DELETE FROM ingest_batches WHERE state = 'committed' AND track = '${track}'` })
  for (const table of factTables.filter((table) => batch?.families.includes(TABLES[table].family)))
    await clickhouse.command({ query: `DELETE FROM ${table} WHERE ${ofBatch} AND toYYYYMM(block_time) != ${month}` })
}

test('a batch that a kill left with one of two months is completed when it is repeated', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, BLOCKS, { START_BLOCK: `${START}` })
  await backfillAll(clickhouseEnv, chain.rpcUrl, [], { BATCH_BLOCKS: '200' })
  const expected = await fingerprint(clickhouse)
  expect(expected).toMatchObject({ blocks: [{ rows: `${BLOCKS}` }] })

  await halve(clickhouse, 'backfill', 'max')
  expect(await fingerprint(clickhouse)).not.toEqual(expected)
  await backfillAll(clickhouseEnv, chain.rpcUrl)
  expect(await fingerprint(clickhouse)).toEqual(expected)

  await halve(clickhouse, 'tip', 'min')
  expect(await fingerprint(clickhouse)).not.toEqual(expected)
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, BLOCKS)
  expect(await fingerprint(clickhouse)).toEqual(expected)
})
