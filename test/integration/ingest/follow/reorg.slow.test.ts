import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { toFunctionSelector } from 'viem'
import { beforeAll, describe, expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { newestRollback } from '../../../../clickhouse/chain/rollbacks.js'
import { findFork } from '../../../../ingest/follow/find-fork.js'
import { openLedger } from '../../../../ingest/sinks/batch-ledger.js'
import { rpcAt } from '../../../../ingest/sources/rpc.js'
import { randomFor } from '../../../../local/chain/random.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { stillChain, useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { heldNode } from '../../../support/held-node.js'
import { ingestAll, ingestedHead, startIngest } from '../../../support/ingest.js'
import { type ChangingChain, changingChain } from '../../../support/reorgs.js'
import { test, withDatabase } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'

const TOTAL_SUPPLY = toFunctionSelector('totalSupply()').slice(2)

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

const namesOf = async (clickhouse: ClickHouseClient, query: string): Promise<string[]> => {
  const answer = await clickhouse.query({ query, format: 'JSONEachRow' })
  return (await answer.json<{ name: string }>()).map(({ name }) => name)
}

/** The stored facts, once ingest has reached the head of the chain. */
const settled = async (clickhouse: ClickHouseClient, ingest: ReturnType<typeof startIngest>) => {
  await ingestedHead(clickhouse, await blocks.head(), ingest)
  return fingerprint(clickhouse)
}

/** The number of replaced blocks, what ingest sees of it, and by how many blocks the chain has grown. */
const DEPTHS = (
  [
    [1, 'the head is another block of the same height', 0],
    [10, 'the chain has grown', 3],
    [20, 'the chain has grown', 1],
    [2, 'the chain has grown', 1],
    [5, 'the head is another block of the same height', 0],
  ] as const
).slice(0, depth('REORG_DEPTHS', 2, 5))

describe('while ingest runs', () => {
  test.for(DEPTHS)('%i replaced blocks leave no trace: %s', async ([depth, , grown], { clickhouseEnv, clickhouse }) => {
    const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
    const before = await settled(clickhouse, ingest)
    const { number } = await blocks.head()
    await blocks.reorg(depth, `depth ${depth}`)
    await blocks.mine(grown, `after depth ${depth}`)
    const after = await settled(clickhouse, ingest)
    await ingest.kill('SIGTERM')
    expect(after).toEqual(await fresh())
    // Every block creates a stable; those of the replaced blocks do not exist.
    const made = `SELECT name FROM stablecoins WHERE block_number > ${number - depth} ORDER BY block_number`
    const names = await namesOf(clickhouse, made)
    expect(names.slice(0, depth)).toEqual(Array.from({ length: depth }, (_, i) => `depth ${depth} ${i}`))
    for (const table of ['blocks', 'flows', 'supply_events', 'stablecoins', 'dex_orders', 'peg_samples'])
      expect(after[table], table).not.toEqual(before[table])
    expect(await newestRollback(clickhouse)).toMatchObject({
      sequence_number: 1,
      kept_block: number - depth,
      removed_to: number,
      done: true,
    })
  })
})

test('a chain that was replaced and returns is stored again, with every row', async ({ clickhouseEnv, clickhouse }) => {
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
  const common = await blocks.note()
  await blocks.mine(5, 'A')
  const headOfA = await blocks.head()
  const a = await settled(clickhouse, ingest)
  await common.back()
  await blocks.mine(6, 'B')
  const b = await settled(clickhouse, ingest)
  await common.back()
  // The newest block is now older than the previous newest block.
  await blocks.mine(5, 'A')
  expect(await blocks.head()).toEqual(headOfA)
  expect(await settled(clickhouse, ingest)).toEqual(a)
  await common.back()
  await blocks.mine(6, 'B')
  expect(await settled(clickhouse, ingest)).toEqual(b)
  await ingest.kill('SIGTERM')
  expect(await newestRollback(clickhouse)).toMatchObject({ sequence_number: 3, done: true })
  expect(b).toEqual(await fresh())
  expect(a).not.toEqual(b)
})

test('a chain that changes continuously while ingest catches up is stored in its final form', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const random = randomFor(3, 'catching up')
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl, { BATCH_BLOCKS: '3' })
  for (let round = 0; round < depth('REORG_ROUNDS', 2, 30); round++) {
    const common = await blocks.note()
    await blocks.mine(random.int(1, 3), `away ${round}`)
    if (random.chance(0.5)) await common.back()
    await blocks.reorg(random.int(1, 20), `catching up ${round}`)
  }
  expect(await settled(clickhouse, ingest)).toEqual(await fresh())
  await ingest.kill('SIGTERM')
  const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(output), output).toEqual([])
  expect(code).toBe(0)
})

test('data read for a block belongs to that block, even if another block was there during the read', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, (await blocks.head()).number)
  const common = await blocks.note()
  await blocks.mine(3, 'the same stables: own')
  const own = await blocks.head()
  let answeredByOther = false
  const node = await heldNode(chain.rpcUrl, TOTAL_SUPPLY, async (pass) => {
    await common.back()
    await blocks.mine(3, 'the same stables: other')
    await pass()
    answeredByOther = true
    await common.back()
    await blocks.mine(3, 'the same stables: own')
  })
  const ingest = startIngest(clickhouseEnv, node.url)
  await ingestedHead(clickhouse, own, ingest)
  await ingest.kill('SIGTERM')
  await node.close()
  expect(answeredByOther).toBe(true)
  expect(await blocks.head()).toEqual(own)
  expect(await fingerprint(clickhouse)).toEqual(await fresh())
})

describe('while ingest is down', () => {
  test('replaced blocks are rolled back at the next start', async ({ clickhouseEnv, clickhouse }) => {
    const first = startIngest(clickhouseEnv, chain.rpcUrl)
    await settled(clickhouse, first)
    await first.kill('SIGKILL')
    await blocks.reorg(7, 'while down')
    const second = startIngest(clickhouseEnv, chain.rpcUrl)
    expect(await settled(clickhouse, second)).toEqual(await fresh())
    await second.kill('SIGTERM')
  })

  test('a partly written batch that is no longer part of the chain is removed', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    const first = startIngest(clickhouseEnv, chain.rpcUrl)
    await settled(clickhouse, first)
    const { number: before } = await blocks.head()
    await first.kill('SIGTERM')
    await blocks.mine(4, 'half')
    const second = startIngest(clickhouseEnv, chain.rpcUrl)
    await settled(clickhouse, second)
    await second.kill('SIGTERM')
    // As after a kill: planned, with some of its facts.
    const last = await newestBatch(clickhouse, { track: 'tip' })
    for (const query of [
      `DELETE FROM ingest_batches WHERE state = 'committed' AND sequence_number = ${last?.sequence_number}`,
      `DELETE FROM flows WHERE block_number > ${before}`,
      `DELETE FROM blocks WHERE block_number > ${before}`,
    ])
      await clickhouse.command({ query })
    await blocks.reorg(2, 'other half')
    const third = startIngest(clickhouseEnv, chain.rpcUrl)
    expect(await settled(clickhouse, third)).toEqual(await fresh())
    await third.kill('SIGTERM')
    expect(await newestRollback(clickhouse)).toMatchObject({
      kept_block: before,
      removed_to: before + 4,
      reason: expect.stringContaining('as planned'),
      done: true,
    })
  })
})

describe('the depth of a reorganization', () => {
  const DEEPEST = 64

  test('is limited: the allowed number of blocks is rolled back; one more stops ingest with instructions and changes nothing', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    await blocks.mine(5, 'deep')
    const { number } = await blocks.head()
    expect(number).toBeGreaterThan(DEEPEST + 1)
    const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
    await settled(clickhouse, ingest)
    await blocks.reorg(DEEPEST, 'as deep as may be')
    expect(await settled(clickhouse, ingest)).toEqual(await fresh())
    const before = await fingerprint(clickhouse)
    await blocks.reorg(DEEPEST + 1, 'too deep')
    expect(await ingest.exited).toEqual({ code: 78, signal: null })
    for (const words of [
      `block ${number - DEEPEST} is 0x`,
      'by more than the 64 blocks',
      'CLICKHOUSE_DATABASE',
      'npm run restore',
    ])
      expect(ingest.output()).toContain(words)
    expect(await fingerprint(clickhouse)).toEqual(before)
    expect(await newestRollback(clickhouse)).toMatchObject({ sequence_number: 1, done: true })
  })

  test('can reach the genesis block: the whole chain is read again', async ({ clickhouseEnv, clickhouse }) => {
    const young = await stillChain({ historyBlocks: 12 })
    try {
      const ingest = startIngest(clickhouseEnv, young.rpcUrl)
      const youngBlocks = changingChain(young)
      await ingestedHead(clickhouse, await youngBlocks.head(), ingest)
      await createRpc(young.rpcUrl).call('anvil_reorg', [12, []])
      await ingestedHead(clickhouse, await youngBlocks.head(), ingest)
      await ingest.kill('SIGTERM')
      const expected = await withDatabase(async (env, other) => {
        await ingestAll(env, other, young.rpcUrl, 12)
        return fingerprint(other)
      })
      expect(await fingerprint(clickhouse)).toEqual(expected)
      expect(await newestRollback(clickhouse)).toMatchObject({ kept_block: 0, removed_to: 12, done: true })
      // Only the genesis stables, once each.
      expect(await namesOf(clickhouse, 'SELECT name FROM stablecoins WHERE block_number > 0')).toEqual([])
    } finally {
      await young.remove()
    }
  })

  test('is zero if blocks are final: a single different block stops ingest', async ({ clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, (await blocks.head()).number)
    const { signal } = new AbortController()
    const log = pino({ level: 'silent' })
    const rpc = rpcAt({
      urls: [chain.rpcUrl],
      finalityDepth: 64,
      batchSize: 50,
      timeoutMs: 15_000,
      attempts: 3,
      log,
      signal,
    })
    const ledger = await openLedger(clickhouse, 'tip', 1)
    const compare = () => findFork({ clickhouse, rpc, ledger, deepest: 0, firstBlock: 1, base: null })
    expect(await compare()).toBeNull()
    await blocks.reorg(1, 'final')
    await expect(compare()).rejects.toMatchObject({ name: 'ReorgTooDeepError', retryable: false })
  })
})
