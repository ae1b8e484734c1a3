import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/**
 * What has come since: the newest event and the newest delivery after those given, 0 where there is none, and the number
 * of versions of subscriptions, which grows with each change. Reads the ends of the tables only.
 */
export const webhookNews = defineQuery({
  name: 'webhook_news',
  params: z.object({ event: z.int(), delivery: z.int() }),
  row: z.object({ event: z.int(), delivery: safeInteger, versions: z.int() }),
  sql: `
    SELECT toUInt32((SELECT max(sequence_number) FROM events WHERE sequence_number > {event: UInt64})) AS event,
           (SELECT max(delivery_id) FROM webhook_deliveries WHERE delivery_id > {delivery: UInt64}) AS delivery,
           toUInt32((SELECT count() FROM webhook_subscriptions)) AS versions`,
})
