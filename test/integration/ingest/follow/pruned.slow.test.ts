import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { coveredRanges } from '../../../../clickhouse/chain/covered-ranges.js'
import { declaredGaps, openGaps } from '../../../../clickhouse/chain/gaps.js'
import { allRollbacks } from '../../../../clickhouse/chain/rollbacks.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { backfillAll } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { type FaultyNode, faultyNode, OLDEST_STATE } from '../../../support/faulty-node.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, startIngest } from '../../../support/ingest.js'
import { fingerprintOfHistory } from '../../../support/ingested.js'
import { test } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'
import { eventually } from '../../../support/webhooks.js'

const BLOCKS = 240
/** The tip begins before the first block whose state the node has, in batches that end at the ninth blocks. */
const START = 40
const TIP = { START_BLOCK: `${START}`, BATCH_BLOCKS: '10' }

const chain = useStillChain({ historyBlocks: BLOCKS })
let pruned: FaultyNode
/** The facts from a node that has every state. */
let expected: Record<string, unknown>

beforeAll(async () => {
  pruned = await faultyNode(chain.rpcUrl, () => 'pruned')
  expected = await fingerprintOfHistory(chain, TIP)
})
afterAll(async () => {
  await pruned?.close()
})

const ofLogs = [
  ...['blocks', 'stablecoins', 'quote_token_updates', 'dex_orders', 'supply_events', 'fees_paid', 'dex_fills'],
  // Quotes follow from the logs of the exchange.
  ...['peg_samples', 'depth_samples', 'peg_minutes', 'peg_quote_hours'],
]
const ofState = ['state_reads', 'role_probes']

const pick = (found: Record<string, unknown>, tables: readonly string[]) =>
  Object.fromEntries(tables.map((table) => [table, found[table]]))

const open = async (clickhouse: ClickHouseClient) =>
  openGaps(await declaredGaps(clickhouse, {}), await coveredRanges(clickhouse))

/** Starts ingest, and kills it when the first batch of the tip is stored but for its blocks. */
async function killInFirstBatch(env: ClickHouseEnv, clickhouse: ClickHouseClient, rpcUrl: string): Promise<void> {
  const relay = await clickhouseRelay(env.CLICKHOUSE_URL)
  relay.hold('insert_blocks')
  const ingest = startIngest({ ...env, CLICKHOUSE_URL: relay.url }, rpcUrl, TIP)
  const isHalf = () => relay.asked('insert_blocks') || ingest.child.exitCode !== null
  await eventually('the first batch is stored but for its blocks', 120, isHalf)
  expect(ingest.child.exitCode, ingest.output()).toBeNull()
  await ingest.kill('SIGKILL')
  await relay.close()
  expect(await newestBatch(clickhouse, { track: 'tip' })).toMatchObject({ from_block: START, committed: false })
}

describe('ingest of blocks whose state the node has dropped', { timeout: 300_000 }, () => {
  test('stores their logs and quotes and declares their states as gaps, which another node fills', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, TIP)
    const found = await fingerprint(clickhouse)
    expect(pick(found, ofLogs)).toEqual(pick(expected, ofLogs))
    expect(found.state_reads).not.toEqual(expected.state_reads)
    const gaps = await open(clickhouse)
    expect(gaps.filter(({ family }) => family === 'pegs')).toEqual([])
    const ofStates = gaps.filter(({ family }) => family === 'state')
    expect(ofStates[0]).toMatchObject({ from_block: START, reason: expect.stringContaining('no longer has the state') })
    expect(ofStates.at(-1)?.to_block).toBe(OLDEST_STATE - 1)
    const ranges = await coveredRanges(clickhouse)
    expect(ranges.map(({ family, from_block, to_block }) => [family, from_block, to_block])).toEqual([
      ['catalogue', 1, BLOCKS],
      ['logs', START, BLOCKS],
      ['pegs', START, BLOCKS],
      ['state', OLDEST_STATE, BLOCKS],
      ['transfers', START, BLOCKS],
    ])

    await backfillAll(clickhouseEnv, chain.rpcUrl, ['--from', `${START}`])
    expect(pick(await fingerprint(clickhouse), [...ofLogs, ...ofState])).toEqual(
      pick(expected, [...ofLogs, ...ofState]),
    )
    expect((await open(clickhouse)).filter(({ family }) => family !== 'logs')).toEqual([])
    const verified = await runVerify(clickhouseEnv, chain.rpcUrl)
    expect(mismatches(verified.output), verified.output).toEqual([])
  })

  test('knows the stables of the genesis block although it begins with the first', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, { BATCH_BLOCKS: '50' })
    const found = await fingerprint(clickhouse)
    expect(found.stablecoins).toEqual(expected.stablecoins)
    expect(await open(clickhouse)).toContainEqual(expect.objectContaining({ family: 'state', from_block: 1 }))
  })

  test('undoes a batch that it has begun to store with their state', async ({ clickhouseEnv, clickhouse }) => {
    await killInFirstBatch(clickhouseEnv, clickhouse, chain.rpcUrl)
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, TIP)
    expect(await allRollbacks(clickhouse)).toMatchObject([{ is_done: true }])
    expect(pick(await fingerprint(clickhouse), ofLogs)).toEqual(pick(expected, ofLogs))
    expect(await open(clickhouse)).toContainEqual(expect.objectContaining({ family: 'state', from_block: START }))
    await backfillAll(clickhouseEnv, chain.rpcUrl, ['--from', `${START}`])
    expect(pick(await fingerprint(clickhouse), [...ofLogs, ...ofState])).toEqual(
      pick(expected, [...ofLogs, ...ofState]),
    )
  })

  test('ends a batch that it has begun to store without their state as it began', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    await killInFirstBatch(clickhouseEnv, clickhouse, pruned.url)
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, BLOCKS, TIP)
    expect(await allRollbacks(clickhouse)).toEqual([])
    const found = await fingerprint(clickhouse)
    expect(pick(found, ofLogs)).toEqual(pick(expected, ofLogs))
    expect((await coveredRanges(clickhouse)).filter(({ family }) => family === 'state')).toEqual([
      { family: 'state', stables: [], from_block: START + 10, to_block: BLOCKS },
    ])
    await backfillAll(clickhouseEnv, chain.rpcUrl, ['--from', `${START}`])
    expect(pick(await fingerprint(clickhouse), [...ofLogs, ...ofState])).toEqual(
      pick(expected, [...ofLogs, ...ofState]),
    )
  })
})
