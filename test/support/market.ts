import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { inject } from 'vitest'
import { buildApp } from '../../api/app.js'
import type { ApiDocument } from '../../api/http/openapi/document.js'
import { newestBlock } from '../../clickhouse/chain/blocks.js'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'
import { detectFlowAnomalies } from '../../jobs/detect/flow-anomalies.js'
import { detectPegEvents } from '../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../jobs/detect/peg-tracks.js'
import { detectUnusualFlows } from '../../jobs/detect/unusual-flows.js'
import { snapshotHolders } from '../../jobs/snapshot/holders.js'
import { snapshotReserves } from '../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../jobs/snapshot/risk.js'
import type { MarketPlan } from '../../local/chain/plan.js'
import type { SpawnOptions } from '../../local/chain/spawn.js'
import { ADMIN_KEY, SUBSCRIPTION_KEY, WEBHOOK_TERMS } from './app.js'
import { stillChain } from './chain.js'
import { ingestAll } from './ingest.js'
import { copyPrepared } from './ingested.js'
import { addApiKey } from './keys.js'
import { addMarketWebhooks, MOST_WEBHOOKS } from './market-webhooks.js'
import { withDatabase } from './services.js'
import { alone, runSlots, slotsOf } from './slots.js'

/** The product's jobs, and how long before the end of a market they begin: to do all of their slots takes minutes. */
const JOBS = [
  { job: 'peg-events', periodSeconds: 120, task: alone(detectPegEvents), hours: 1 },
  { job: 'peg-tracks', periodSeconds: 120, task: alone(detectPegTracks), hours: 1 },
  { job: 'risk', periodSeconds: 300, task: snapshotRisk, hours: 2 },
  { job: 'reserves', periodSeconds: 3600, task: snapshotReserves, hours: 2 },
  { job: 'holders', periodSeconds: 3600, task: snapshotHolders, hours: 2 },
  { job: 'flow-anomalies', periodSeconds: 900, task: alone(detectFlowAnomalies), hours: 4 },
  { job: 'unusual-flows', periodSeconds: 900, task: detectUnusualFlows, hours: 4 },
]

/** A key that may be revoked. */
export const SPARE_KEY_ID = 'key_0123456789abcdef'

export type Market = {
  env: ClickHouseEnv
  app: Awaited<ReturnType<typeof buildApp>>
  document: ApiDocument
  clickhouse: ClickHouseClient
  plan: MarketPlan
  /** Unix seconds of the first and the newest block. */
  start: number
  end: number
}

/**
 * Lets `use` have the API over a whole market: a local chain, all of it taken in, and what the jobs find at its end. The API
 * has the rights that it has under `npm start`: it reads as one user, and inserts its records as another.
 */
export async function withMarket<Result>(
  options: Pick<SpawnOptions, 'historyBlocks' | 'blockSeconds' | 'stables' | 'seed'>,
  use: (market: Market) => Promise<Result>,
): Promise<Result> {
  const chain = await stillChain(options)
  try {
    return await withDatabase(async (env, clickhouse) => {
      const spanOf = async (stored: ClickHouseClient) => {
        const newest = await newestBlock(stored)
        const end = Math.floor((newest?.block_time.getTime() ?? 0) / 1000)
        return { start: end - (chain.head - 1) * (options.blockSeconds ?? 60), end }
      }
      await copyPrepared(chain, clickhouse, env, 'market', async (source, stored) => {
        await ingestAll(source, stored, chain.rpcUrl, chain.head)
        const { start, end } = await spanOf(stored)
        for (const job of JOBS) await runSlots(stored, job, slotsOf(job, Math.max(start, end - job.hours * 3600), end))
      })
      const { start, end } = await spanOf(clickhouse)
      await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
      await addApiKey(clickhouse, { id: SPARE_KEY_ID, label: 'Nobody’s' })
      await addMarketWebhooks(clickhouse, end)
      const [reader, records] = (['reader', 'writer'] as const).map((user) =>
        connect({ ...env, ...inject('clickhouseUsers')[user] }, { application: 'plumbline-test' }),
      ) as [ClickHouseClient, ClickHouseClient]
      const app = await buildApp({
        clickhouse: reader,
        records,
        now: () => new Date((end + 30) * 1000),
        adminKey: ADMIN_KEY,
        webhooks: { ...WEBHOOK_TERMS, mostSubscriptions: MOST_WEBHOOKS },
        logger: pino({ level: 'silent' }),
      })
      const document = (await app.inject('/openapi.json')).json() as ApiDocument
      try {
        return await use({ env, app, document, clickhouse, plan: chain.plan, start, end })
      } finally {
        await app.close()
        await Promise.all([reader.close(), records.close()])
      }
    })
  } finally {
    await chain.remove()
  }
}
