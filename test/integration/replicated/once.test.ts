import type { ClickHouseClient } from '@clickhouse/client'
import pRetry from 'p-retry'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createLedger } from '../../../api/callers/payments/attempts.js'
import { addDeliveries } from '../../../clickhouse/webhooks/deliveries.js'
import { addVersion, changeSubscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { openLedger } from '../../../ingest/sinks/batch-ledger.js'
import { announce } from '../../../jobs/detect/announce.js'
import { claimTerm } from '../../../jobs/lease/term.js'
import { PlumblineError } from '../../../process/errors.js'
import { NO_REPLICAS, type TwoReplicas, twoReplicas } from '../../support/replicas.js'
import { webhookSubscription } from '../../support/webhook-subscriptions.js'

const CLAIMS = 100
const at = new Date('2026-07-01T00:00:00Z')

let replicas: TwoReplicas
beforeAll(async () => {
  if (NO_REPLICAS === '') replicas = await twoReplicas()
}, 300_000)
afterAll(async () => {
  await replicas?.remove()
})

/** How often something failed because a replica did not answer: none does unless somebody stops one meanwhile. */
let failures = 0

/** Repeats what fails, as processes do. */
const persist = <Result>(act: () => Promise<Result>): Promise<Result> =>
  pRetry(act, {
    ...{ retries: 300, minTimeout: 500, factor: 1 },
    shouldRetry: ({ error }) => error instanceof PlumblineError && error.retryable,
    onFailedAttempt: () => {
      failures++
    },
  })

/** Does the same on both sides at once. */
const onBoth = <Result>(act: (clickhouse: ClickHouseClient, side: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(replicas.clients.map((clickhouse, side) => persist(() => act(clickhouse, side))))

/** One side has it; or none, if its answer was lost with a replica. */
function expectOne(claims: number): void {
  if (failures === 0) expect(claims).toBe(1)
  else expect(claims).toBeLessThanOrEqual(1)
}

const numbers = Array.from({ length: CLAIMS }, (_, i) => i + 1)

/** A column of both replicas, once all rows have arrived. */
async function columnOf(table: string, column: string): Promise<string[]> {
  const [one, other] = await onBoth(async (clickhouse) => {
    await clickhouse.command({ query: `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT` })
    const query = `SELECT toString(${column}) AS value FROM ${table} ORDER BY ALL`
    return (await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ value: string }>()).map(
      ({ value }) => value,
    )
  })
  expect(other).toEqual(one)
  return one as string[]
}

beforeEach(({ skip }) => skip(NO_REPLICAS !== '', NO_REPLICAS))

describe('of two processes that use different replicas', { timeout: 1_800_000 }, () => {
  test.concurrent('one gets each lease', async () => {
    for (const term of numbers) {
      const won = await onBoth((clickhouse, side) => claimTerm(clickhouse, `instance ${side}`, term - 1))
      expect(won.filter((one) => one !== null)).toEqual([term])
    }
    expect(await columnOf('job_leases', 'term')).toHaveLength(CLAIMS)
  })

  test.concurrent('one announces each event', async () => {
    for (const number of numbers) {
      const event = {
        id: `e${number}`,
        type: 'peg_break.started' as const,
        subject: 's',
        stables: [],
        data: {},
        occurred_at: at,
      }
      await onBoth((clickhouse) => announce(clickhouse, [event], { at, revision: 0 }))
    }
    expect(await columnOf('events', 'id')).toEqual(numbers.map((number) => `e${number}`).sort())
    expect(new Set(await columnOf('events', 'sequence_number')).size).toBe(CLAIMS)
  })

  test.concurrent('one plans each batch', async () => {
    for (const number of numbers) {
      // Both are open before either plans: one that is opened later goes on with the other's batch.
      const ledgers = await onBoth((clickhouse) => openLedger(clickhouse, `track ${number}`, 1))
      const plans = await Promise.all(
        ledgers.map((ledger, side) =>
          persist(() => ledger.plan({ from: 1, to: 10, lastHash: `0x${side}` })).then(
            () => 'planned',
            (error: Error) => error.message,
          ),
        ),
      )
      expect(plans.sort()).toEqual(['another ingest process writes to this database; only one may', 'planned'])
    }
    expect(await columnOf('ingest_batches', 'track')).toHaveLength(CLAIMS)
  })

  test.concurrent('one adds each delivery', async () => {
    for (const number of numbers) {
      const delivery = {
        ...{
          subscription_id: 'wh_1',
          kind: 'event' as const,
          event_id: `d${number}`,
          event_sequence: number,
          cause: '',
        },
        ...{ event_type: 'peg_break.started' as const, data: {}, event_at: at, published_at: at },
      }
      const [ids, same] = await onBoth((clickhouse) => addDeliveries(clickhouse, [delivery]))
      expect(same).toEqual(ids)
    }
    expect(await columnOf('webhook_deliveries', 'event_id')).toHaveLength(CLAIMS)
  })

  test.concurrent('one accepts each payment', async () => {
    const log = pino({ level: 'silent' })
    for (const number of numbers) {
      const payment = {
        ...{
          challenge_id: `c${number}`,
          credential_digest: 'd',
          scope: 's',
          mode: 'push' as const,
          payer: '0x1',
          recipient: '0x2',
        },
        ...{ currency: '0x3', amount_raw: '1', chain_id: 1, realm: 'r', tx_hash: `0x${number}` },
      }
      const claims = await onBoth((clickhouse) => createLedger(clickhouse, log).claim(payment, 0))
      expectOne(claims.filter((claim) => claim !== null).length)
    }
    expect(await columnOf('payments', 'challenge_id')).toHaveLength(CLAIMS)
  })

  test.concurrent('no change of a subscription is lost', async () => {
    const [first] = replicas.clients as [ClickHouseClient]
    const subscription = webhookSubscription()
    await addVersion(first, subscription)
    for (const _ of numbers)
      await onBoth((clickhouse, side) =>
        changeSubscription(clickhouse, subscription.id, (newest) => ({ ...newest, label: `${newest.label}${side}` })),
      )
    const labels = await columnOf('webhook_subscriptions', 'label')
    const longest = labels.toSorted((a, b) => b.length - a.length)[0]?.slice(subscription.label.length) ?? ''
    expect([...longest].sort().join('')).toBe('0'.repeat(CLAIMS) + '1'.repeat(CLAIMS))
  })
})
