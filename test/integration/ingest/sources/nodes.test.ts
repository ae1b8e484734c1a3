import { beforeAll, describe, expect } from 'vitest'
import { useStillChain } from '../../../support/chain.js'
import { type Fault, type FaultyNode, faultyNode } from '../../../support/faulty-node.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedTo, startIngest } from '../../../support/ingest.js'
import { fingerprintOfHistory } from '../../../support/ingested.js'
import { test } from '../../../support/services.js'

const BLOCKS = 120

const chain = useStillChain({ historyBlocks: BLOCKS })
/** The facts that one good node gives. */
let expected: unknown

beforeAll(async () => {
  expected = await fingerprintOfHistory(chain)
})

async function withNode(fault: Fault, use: (node: FaultyNode) => Promise<void>): Promise<void> {
  const node = await faultyNode(chain.rpcUrl, () => fault)
  try {
    await use(node)
  } finally {
    await node.close()
  }
}

describe('of two nodes', () => {
  test('one that is dead is not needed, and is not asked repeatedly', async ({ clickhouseEnv, clickhouse }) => {
    await withNode('refused', async (dead) => {
      await ingestAll(clickhouseEnv, clickhouse, `${dead.url},${chain.rpcUrl}`, BLOCKS, { BATCH_BLOCKS: '5' })
      expect(await fingerprint(clickhouse)).toEqual(expected)
      expect(dead.requests()).toBeGreaterThan(0)
      expect(dead.requests()).toBeLessThan(30)
    })
  })

  test('one that dies in the middle is not needed', async ({ clickhouseEnv, clickhouse }) => {
    await withNode('none', async (dying) => {
      dying.faults = (request) => (request < 12 ? 'none' : 'refused')
      const urls = `${dying.url},${dying.url.replace('127.0.0.1', 'localhost')},${chain.rpcUrl}`
      await ingestAll(clickhouseEnv, clickhouse, urls, BLOCKS, { BATCH_BLOCKS: '5' })
      expect(dying.requests()).toBeGreaterThan(12)
      expect(await fingerprint(clickhouse)).toEqual(expected)
    })
  })

  test('one that lags is not asked for blocks that it does not have yet', async ({ clickhouseEnv, clickhouse }) => {
    await withNode('behind', async (behind) => {
      await ingestAll(clickhouseEnv, clickhouse, `${behind.url},${chain.rpcUrl}`, BLOCKS, { BATCH_BLOCKS: '5' })
      expect(await fingerprint(clickhouse)).toEqual(expected)
      expect(behind.requests()).toBeGreaterThan(0)
      expect(behind.beyond()).toBe(0)
    })
  })

  test.for([
    ['other-hash', 'disagree about block 56'],
    ['other-chain', 'disagree about the chain'],
  ] as const)(
    'one with %s stops ingest with an error, and nothing is written',
    async ([fault, message], { clickhouseEnv, clickhouse }) => {
      await withNode(fault, async (lying) => {
        const ingest = startIngest(clickhouseEnv, `${chain.rpcUrl},${lying.url}`)
        expect(await ingest.exited).toEqual({ code: 78, signal: null })
        expect(ingest.output()).toContain(message)
        for (const url of [chain.rpcUrl, lying.url]) expect(ingest.output()).toContain(new URL(url).host)
        expect(await fingerprint(clickhouse)).toMatchObject({ blocks: [{ rows: '0' }], peg_samples: [{ rows: '0' }] })
      })
    },
  )
})

describe('a node with limits', () => {
  test('that only returns logs of a few blocks is asked for a few', async ({ clickhouseEnv, clickhouse }) => {
    await withNode('limited-logs', async (limited) => {
      const ingest = startIngest(clickhouseEnv, limited.url, { RPC_ATTEMPTS: '1' })
      await ingestedTo(clickhouse, BLOCKS, ingest)
      await ingest.kill('SIGTERM')
      expect(await fingerprint(clickhouse)).toEqual(expected)
    })
  })
})
