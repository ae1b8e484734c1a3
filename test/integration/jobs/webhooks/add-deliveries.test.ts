import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { addDeliveries, insertWebhookDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import { test } from '../../../support/services.js'
import { madeUpDelivery } from '../../../support/webhooks.js'

type Stored = { delivery_id: number; subscription_id: string; event_id: string; cause: string; data: string }

async function stored(clickhouse: ClickHouseClient): Promise<Stored[]> {
  const query = `SELECT toUInt32(delivery_id) AS delivery_id, subscription_id, event_id, cause, data
                 FROM webhook_deliveries ORDER BY delivery_id`
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Stored>()
}

test('processes that add the same deliveries at once get the same numbers, and each delivery is stored once', async ({
  clickhouse,
}) => {
  const wanted = Array.from({ length: 60 }, (_, i) => madeUpDelivery(i % 20, `wh_${Math.floor(i / 20)}`))
  const parts = [wanted, wanted, wanted.slice(10, 50), wanted.toReversed(), wanted.slice(0, 20)]
  const answers = await Promise.all(parts.map((part) => addDeliveries(clickhouse, part)))
  const rows = await stored(clickhouse)
  expect(rows).toHaveLength(60)
  expect(new Set(rows.map(({ delivery_id }) => delivery_id)).size).toBe(60)
  const idOf = new Map(rows.map((row) => [`${row.subscription_id} ${row.event_id}`, row.delivery_id]))
  for (const [i, part] of parts.entries())
    expect(answers[i]).toEqual(part.map(({ subscription_id, event_id }) => idOf.get(`${subscription_id} ${event_id}`)))
  expect(rows.map(({ data }) => JSON.parse(data)).every(({ made_up }) => made_up < 20)).toBe(true)
})

test('a delivery with a different cause is a different one; the same one twice in a request is stored once', async ({
  clickhouse,
}) => {
  const [first, again, replay] = [
    madeUpDelivery(1, 'wh_1'),
    madeUpDelivery(1, 'wh_1'),
    madeUpDelivery(1, 'wh_1', { kind: 'replay', cause: 'request 1' }),
  ]
  const ids = await addDeliveries(clickhouse, [first, again, replay])
  expect(ids[0]).toBe(ids[1])
  expect(ids[2]).not.toBe(ids[0])
  expect(await addDeliveries(clickhouse, [replay, first])).toEqual([ids[2], ids[0]])
  expect(await addDeliveries(clickhouse, [])).toEqual([])
  expect(await stored(clickhouse)).toHaveLength(2)
})

test('a number that a kill left unused is skipped, and several chunks keep their order', async ({ clickhouse }) => {
  // As after such a kill: the token is recorded, the rows are not.
  await insertWebhookDeliveries(clickhouse, [madeUpDelivery(0, 'wh_1')], 1)
  await clickhouse.command({ query: 'ALTER TABLE webhook_deliveries DELETE WHERE 1 SETTINGS mutations_sync = 1' })
  const wanted = Array.from({ length: 2500 }, (_, i) => madeUpDelivery(i, 'wh_1'))
  const ids = await addDeliveries(clickhouse, wanted)
  expect(ids).toEqual(wanted.map((_, i) => i + 2))
  expect((await stored(clickhouse)).map(({ event_id }) => event_id)).toEqual(wanted.map(({ event_id }) => event_id))
})
