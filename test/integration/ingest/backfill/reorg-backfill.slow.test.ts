import { beforeAll, expect } from 'vitest'
import { newestRollback } from '../../../../clickhouse/chain/rollbacks.js'
import { randomFor } from '../../../../local/chain/random.js'
import { startBackfill } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, ingestedHead, startIngest } from '../../../support/ingest.js'
import { type ChangingChain, changingChain } from '../../../support/reorgs.js'
import { test, withDatabase } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'

const chain = useStillChain({ historyBlocks: 160 })
let blocks: ChangingChain

beforeAll(async () => {
  blocks = changingChain(chain)
  await blocks.mine(22, 'first')
})

test('a reorganization during a backfill of earlier blocks ends with exactly the rows of the new chain', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl, { START_BLOCK: 'head' })
  await ingestedHead(clickhouse, await blocks.head(), ingest)
  const backfill = startBackfill(clickhouseEnv, chain.rpcUrl, ['--newest-first'], { BATCH_BLOCKS: '3' })
  // Before that, a chain that is just being shortened would be a node that is behind, which stops it.
  await expect.poll(() => backfill.output(), { timeout: 120_000 }).toContain('backfill reads')
  let isOver = false
  const ended = backfill.exited.finally(() => {
    isOver = true
  })
  const random = randomFor(5, 'reorg beside a backfill')
  let during = 0
  for (let round = 0; round < 3 || !isOver; round++) {
    await blocks.reorg(random.int(1, 20), `beside ${round}`)
    if (!isOver) during++
    await ingestedHead(clickhouse, await blocks.head(), ingest)
  }
  expect(await ended, backfill.output()).toEqual({ code: 0, signal: null })
  expect(during).toBeGreaterThan(0)
  await ingestedHead(clickhouse, await blocks.head(), ingest)
  await ingest.kill('SIGTERM')
  const rollback = await newestRollback(clickhouse)
  expect(rollback?.sequence_number).toBeGreaterThanOrEqual(2)
  const expected = await withDatabase(async (env, other) => {
    await ingestAll(env, other, chain.rpcUrl, (await blocks.head()).number)
    return fingerprint(other)
  })
  expect(await fingerprint(clickhouse)).toEqual(expected)
  const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(output), output).toEqual([])
  expect(code).toBe(0)
  expect(output).toContain('0 not checked')
})
