import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLedger } from '../../../api/answers/ledger.js'
import { createServiceState } from '../../../api/service/service-state.js'
import { eventsAfter, newestSequence } from '../../../clickhouse/events/log.js'
import { insertFacts } from '../../../clickhouse/facts/facts.js'
import { type ClickHouseEnv, connect } from '../../../clickhouse/store/client.js'
import { QueryError } from '../../../clickhouse/store/query-error.js'
import { CURRENT_TABLES } from '../../../clickhouse/tables.js'
import { addVersion } from '../../../clickhouse/webhooks/subscriptions.js'
import { subscriptionCounts } from '../../../clickhouse/webhooks/totals.js'
import { openLedger } from '../../../ingest/sinks/batch-ledger.js'
import { announce } from '../../../jobs/detect/announce.js'
import { Memories } from '../../../process/memory.js'
import { NO_REPLICAS, type TwoReplicas, twoReplicas } from '../../support/replicas.js'
import { webhookSubscription } from '../../support/webhook-subscriptions.js'

const BATCHES = 40
const PAUSE_MS = 500
const at = new Date('2026-07-01T00:00:00Z')
const FAR = Math.floor(at.getTime() / 1000) + 86_400

let replicas: TwoReplicas
let writer: ClickHouseClient
/** A client of the other replica whose reads may lag, as the API has it. */
let reader: ClickHouseClient
beforeAll(async () => {
  if (NO_REPLICAS !== '') return
  replicas = await twoReplicas()
  writer = replicas.clients[0] as ClickHouseClient
  reader = connect(replicas.envs[1] as ClickHouseEnv, {
    application: 'plumbline-test',
    requestTimeoutMs: 300_000,
    reads: { currentOnly: CURRENT_TABLES },
  })
}, 300_000)
afterAll(async () => {
  await reader?.close()
  await replicas?.remove()
})

/** Stops or starts the reader's replica from fetching a table's rows, where its user may; resolves to whether it may. */
const system = (verb: 'STOP' | 'START', table: string): Promise<boolean> =>
  reader.command({ query: `SYSTEM ${verb} FETCHES ${table}` }).then(
    () => true,
    () => false,
  )

/** Lets the reader's replica fetch a table's rows in bursts, where its user may; the lag of a pair is set from outside. */
async function withBursts(table: string, run: () => Promise<void>): Promise<void> {
  let isStopped = await system('STOP', table)
  const timer = setInterval(() => {
    isStopped = !isStopped
    void system(isStopped ? 'STOP' : 'START', table)
  }, 700)
  await run().finally(() => clearInterval(timer))
  await system('START', table)
}

beforeEach(({ skip }) => skip(NO_REPLICAS !== '', NO_REPLICAS))

describe('a replica that lags behind the one that is written to', { timeout: 600_000 }, () => {
  test('has every row of what its ledger says is stored', async () => {
    const ledger = await openLedger(writer, 'tip', 1)
    const kept = createLedger(reader, new Memories())
    /** How many batches are written in all; null until they are. */
    let written: number | null = null
    const seen: number[] = []
    const write = async () => {
      let number = 0
      // Until the reader has seen the ledger grow.
      while (number < BATCHES || new Set(seen).size < 3) {
        number++
        await ledger.plan({ from: number, to: number, lastHash: `0x${number}` })
        const block = {
          block_number: number,
          block_time: Math.floor(at.getTime() / 1000) + number,
          block_hash: `0x${number}`,
        }
        const row = { ...block, parent_hash: `0x${number - 1}`, tx_count: 0, log_count: 0 }
        await insertFacts(writer, 'blocks', [row], `${number}`)
        await ledger.commit()
        // A replica that is sent more than it can fetch never catches up.
        await sleep(PAUSE_MS)
      }
      written = number
    }
    const read = async () => {
      while (written === null || seen.at(-1) !== written) {
        const { ranges } = await kept.read(FAR)
        const last = Math.max(0, ...ranges.filter(({ family }) => family === 'logs').map(({ to_block }) => to_block))
        const query = `SELECT toUInt32(count()) AS rows FROM blocks WHERE block_number <= ${last}`
        const [found] = await (await reader.query({ query, format: 'JSONEachRow' })).json<{ rows: number }>()
        expect(found?.rows).toBe(last)
        seen.push(last)
        if (written !== null && last !== written) await sleep(200)
      }
    }
    await withBursts('blocks', async () => {
      await Promise.all([write(), read()])
    })
  })

  test('never passes over an event that arrives after a later one', async () => {
    const ids = Array.from({ length: BATCHES }, (_, i) => `e${i + 1}`)
    const write = async () => {
      for (const id of ids)
        await announce(
          writer,
          [{ id, type: 'peg_break.started', subject: 's', stables: [], data: {}, occurred_at: at }],
          {
            at,
            revision: 0,
          },
        )
    }
    const received: string[] = []
    const read = async () => {
      for (let after = 0; received.length < BATCHES; ) {
        const until = await newestSequence(reader)
        const events = await eventsAfter(reader, { after, until, limit: 1000 })
        received.push(...events.map(({ id }) => id))
        after = until
      }
    }
    await withBursts('events', async () => {
      await Promise.all([write(), read()])
    })
    expect(received).toEqual(ids)
  })

  test('says how the service is also while it cannot catch up', async ({ skip }) => {
    await system('STOP', 'webhook_subscriptions')
    try {
      await addVersion(writer, webhookSubscription())
      // What must not miss a row waits for it.
      const strict = await subscriptionCounts(reader, { signal: AbortSignal.timeout(2000) }).catch((error) => error)
      skip(!(strict instanceof QueryError), 'the replica has caught up: its user may not stop it, and its lag is short')
      expect((await createServiceState(reader, new Memories(), () => at).read()).webhooks.subscriptions).toEqual([])
    } finally {
      await system('START', 'webhook_subscriptions')
    }
  })
})
