import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/**
 * The deliveries with `from` <= number <= `until` that are not over, at most `limit` in their order: the number of the
 * attempt to be made, and when it is due, in unix milliseconds. What they send is not read.
 */
export const pendingDeliveries = defineQuery({
  name: 'pending_deliveries',
  params: z.object({ from: z.int(), until: z.int(), limit: z.int() }),
  row: z.object({ delivery_id: safeInteger, subscription_id: z.string(), attempt: z.int(), due_ms: safeInteger }),
  sql: `
    SELECT delivery_id, subscription_id, made + 1 AS attempt,
           toUnixTimestamp64Milli(if(made = 0, recorded_at, assumeNotNull(next_at))) AS due_ms
    FROM webhook_deliveries
    LEFT JOIN (
      SELECT delivery_id, max(attempt) AS made, argMax(tuple(next_attempt_at), attempt).1 AS next_at
      FROM webhook_attempts WHERE delivery_id >= {from: UInt64} AND delivery_id <= {until: UInt64}
      GROUP BY delivery_id
    ) AS attempts USING (delivery_id)
    WHERE delivery_id >= {from: UInt64} AND delivery_id <= {until: UInt64} AND (made = 0 OR next_at IS NOT NULL)
    ORDER BY delivery_id LIMIT {limit: UInt32}`,
})
