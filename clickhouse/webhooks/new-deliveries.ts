import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/** The deliveries after a number, in their order, at most `limit`: no attempt of them has been made. `due_ms` in unix milliseconds. */
export const newDeliveries = defineQuery({
  name: 'new_deliveries',
  params: z.object({ after: z.int(), limit: z.int() }),
  row: z.object({
    delivery_id: safeInteger,
    subscription_id: z.string(),
    event_type: z.string(),
    event_id: z.string(),
    data: z.string(),
    due_ms: safeInteger,
  }),
  sql: `
    SELECT delivery_id, subscription_id, event_type, event_id, data, toUnixTimestamp64Milli(recorded_at) AS due_ms
    FROM webhook_deliveries WHERE delivery_id > {after: UInt64}
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})
