import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { safeInteger } from '../store/values.js'

/**
 * Deliveries were created for the events up to number `sequence`, and no delivery with a number below `settled_before`
 * is pending.
 */
type FanOut = { sequence: number; settled_before: number }

/** Records a fan-out. Both numbers only grow, and readers use the greatest. */
export function insertWebhookFanOut(clickhouse: ClickHouseClient, { sequence, settled_before }: FanOut): Promise<void> {
  const row = { sequence_number: sequence, settled_before }
  return insertRows(clickhouse, 'webhook_fan_outs', [row], `${sequence}:${settled_before}`)
}

/** The greatest recorded `sequence` and `settled_before`; zeros before the first. */
export const newestFanOut = defineRow({
  name: 'newest_fan_out',
  row: z.object({ sequence: z.int(), settled_before: safeInteger }),
  sql: `
    SELECT toUInt32(max(sequence_number)) AS sequence, max(settled_before) AS settled_before
    FROM webhook_fan_outs`,
})

/**
 * What has been added: the numbers of the newest event and the newest delivery after those given, 0 if there is none,
 * and the number of subscription versions, which grows with each change. Reads only the ends of the tables of events
 * and deliveries.
 */
export const webhookNews = defineRow({
  name: 'webhook_news',
  params: z.object({ event: z.int(), delivery: z.int() }),
  row: z.object({ event: z.int(), delivery: safeInteger, versions: z.int() }),
  sql: `
    SELECT toUInt32((SELECT max(sequence_number) FROM events WHERE sequence_number > {event: UInt64})) AS event,
           (SELECT max(delivery_id) FROM webhook_deliveries WHERE delivery_id > {delivery: UInt64}) AS delivery,
           toUInt32((SELECT count() FROM webhook_subscriptions)) AS versions`,
})
