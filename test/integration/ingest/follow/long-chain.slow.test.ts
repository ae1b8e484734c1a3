import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { coveredRanges } from '../../../../clickhouse/chain/covered-ranges.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { type BareChain, startBareChain } from '../../../../local/chain/bare-chain.js'
import { cachedApp } from '../../../support/cached-app.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedTo, startIngest } from '../../../support/ingest.js'
import { type LongChain, type LongChainLimits, longChain } from '../../../support/long-chain.js'
import { test, withDatabase } from '../../../support/services.js'

/** The blocks before the real ones, of which one in so many has a log. */
const [BEFORE, LOG_EVERY] = [1_000_000, 500]
/** Real blocks: more than may still be replaced. */
const REAL = 70
const HEAD = BEFORE + 1 + REAL
const ENV = { START_BLOCK: 'head', TRACK: 'listed' }

let dir: string
let chain: BareChain
/** The facts as a node without limits gives them. */
let expected: Record<string, unknown>

async function withNode<Result>(limits: LongChainLimits, use: (node: LongChain) => Promise<Result>): Promise<Result> {
  const node = await longChain(chain.rpcUrl, { before: BEFORE, logEvery: LOG_EVERY, limits })
  try {
    return await use(node)
  } finally {
    await node.close()
  }
}

async function factsOf(env: ClickHouseEnv, clickhouse: ClickHouseClient, node: LongChain) {
  await ingestAll(env, clickhouse, node.url, HEAD, ENV)
  const ranges = await coveredRanges(clickhouse)
  expect(ranges.filter(({ family }) => family === 'catalogue')).toEqual([
    { family: 'catalogue', stables: [], from_block: 1, to_block: HEAD },
  ])
  return fingerprint(clickhouse)
}

/** Asks for what the catalogue that is read so far may suggest that it answers. */
async function nothingIsComplete(clickhouse: ClickHouseClient): Promise<void> {
  const [stable] = await (
    await clickhouse.query({ query: "SELECT stable FROM stablecoins WHERE symbol = 'OLD1'", format: 'JSONEachRow' })
  ).json<{ stable: string }>()
  const app = await cachedApp(clickhouse)
  const path = `/stablecoins/${stable?.stable}`
  const urls = ['', '/peg', '/roles', '/rewards', '/depth', '/peg-events'].map((name) => `${path}${name}`)
  for (const url of [...urls, '/stablecoins/flows', '/stablecoins/flow-anomalies', '/fee-economics/overview']) {
    const answer = await app.inject(`/api/v1${url}`)
    const { coverage } = answer.json<{ coverage?: { status: string; message: string } }>()
    expect([url, coverage?.status]).not.toEqual([url, 'complete'])
    // Where nothing at all is there yet, there is no answer.
    if (answer.statusCode !== 404)
      expect([url, answer.statusCode, coverage?.message]).toEqual([url, 200, expect.any(String)])
  }
  const list = (await app.inject('/api/v1/stablecoins')).json<{
    stablecoins: Array<{ coverage: { status: string } }>
  }>()
  expect(new Set(list.stablecoins.map(({ coverage }) => coverage.status))).not.toContain('complete')
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'plumbline-long-'))
  chain = await startBareChain(dir)
  await chain.rpc.call('anvil_mine', [`0x${REAL.toString(16)}`, '0x1'])
  expected = await withDatabase((env, clickhouse) => withNode({}, (node) => factsOf(env, clickhouse, node)))
  // Four genesis tokens, and one in five logs creates one.
  expect(expected).toMatchObject({ stablecoins: [{ rows: '404' }], dex_orders: [{ rows: '400' }] })
})

afterAll(async () => {
  await chain?.stop()
  await rm(dir, { recursive: true, force: true })
})

describe('the catalogue of a long chain is the same from a node', () => {
  test.for<[string, LongChainLimits, (counts: Record<string, number>) => boolean]>([
    ['that gives few blocks and says how many', { mostBlocks: 2500 }, ({ refused = 0 }) => refused > 0 && refused < 60],
    [
      'that gives few blocks and does not say so',
      { mostBlocks: 1777, refusal: () => 'block range is too large' },
      ({ refused = 0 }) => refused > 0,
    ],
    ['that gives few results', { mostResults: 9 }, ({ refused = 0 }) => refused > 0],
    [
      'that suggests a range',
      { mostResults: 9, refusal: () => 'query exceeds max results 9, retry with the range 1-99' },
      ({ refused = 0 }) => refused > 0,
    ],
    [
      'whose logs have no times',
      { blockTimestamps: false },
      ({ eth_getBlockByNumber = 0 }) => eth_getBlockByNumber > 2000,
    ],
    ['whose logs have wrong times', { blockTimestamps: 'wrong' }, () => true],
    [
      'that limits the rate',
      { mostBlocks: 20_000, logsPerSecond: 25, retryAfter: 1 },
      ({ limited = 0 }) => limited > 0 && limited < 60,
    ],
    ['that answers late', { mostBlocks: 50_000, late: { every: 10, ms: 1500 } }, () => true],
  ])('%s', async ([, limits, isAsMeant], { clickhouseEnv, clickhouse }) => {
    await withNode(limits, async (node) => {
      expect(await factsOf(clickhouseEnv, clickhouse, node)).toEqual(expected)
      expect(node.counts).toSatisfy(isAsMeant)
    })
  })

  test('where ingest is killed again and again', async ({ clickhouseEnv, clickhouse }) => {
    await withNode({ mostBlocks: 500, latencyMs: 10 }, async (node) => {
      const newest = () => newestBatch(clickhouse, { track: 'catalogue' })
      let halfDone = 0
      for (let kill = 0; kill < 2; kill++) {
        const before = (await newest())?.sequence_number ?? 0
        const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
        // Every other kill strikes when a batch is planned, the others when one is stored.
        if (kill % 2 === 0) relay.hold('insert_stablecoins')
        const ingest = startIngest({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url }, node.url, ENV)
        const isReached = async () => {
          const batch = await newest()
          if (batch === null || batch.sequence_number <= before) return false
          return kill % 2 === 0 ? relay.asked('insert_stablecoins') : batch.committed
        }
        while (ingest.child.exitCode === null && !(await isReached()));
        await ingest.kill('SIGKILL')
        await relay.close()
        if ((await newest())?.committed === false) halfDone++
      }
      // Checks that the kills struck at the intended moments.
      expect(halfDone).toBeGreaterThan(0)
      expect((await newest())?.to_block).toBeLessThan(BEFORE)
      await nothingIsComplete(clickhouse)
      const ingest = startIngest(clickhouseEnv, node.url, ENV)
      await ingestedTo(clickhouse, HEAD, ingest)
      await ingest.kill('SIGTERM')
      expect(await fingerprint(clickhouse)).toEqual(expected)
    })
  })
})
