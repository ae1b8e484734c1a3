import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { test as base } from '../../../support/bare-chain.js'
import { ingestedTo, startIngest } from '../../../support/ingest.js'
import { withDatabase } from '../../../support/services.js'

const BLOCKS = 20

base('blocks that come before TIP_FLUSH_MS has passed are written together', async ({ bareChain }) => {
  const chain = await bareChain()
  await withDatabase(async (env, clickhouse) => {
    const ingest = startIngest(env, chain.rpcUrl, { POLL_INTERVAL_MS: '50', TIP_FLUSH_MS: '4000' })
    await chain.mine()
    await ingestedTo(clickhouse, 1, ingest)
    const startedAt = performance.now()
    for (let i = 0; i < BLOCKS; i++) {
      await chain.mine()
      await sleep(60)
    }
    const took = performance.now() - startedAt
    await ingestedTo(clickhouse, 1 + BLOCKS, ingest)
    await ingest.kill('SIGTERM')
    const query = `SELECT toUInt32(uniqExact(sequence_number)) AS batches FROM ingest_batches WHERE track = 'tip' AND from_block > 1`
    const [found] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ batches: number }>()
    // One each time that it passes while they are mined, and one more; otherwise about one for each block.
    expect(found?.batches).toBeLessThanOrEqual(Math.max(2, 1 + Math.ceil(took / 4000)))
  })
})
