import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { DELIVERY_STATES, SETTLED_BEFORE, STATE_OF_ATTEMPTS } from './delivery-states.js'

const row = z.object({ delivery_id: z.string().transform(Number) })

/** The numbers of a subscription's deliveries below `before`, the newest first, at most `limit`. */
export const deliveryPage = defineQuery({
  name: 'webhook_delivery_page',
  params: z.object({
    subscription_id: z.string(),
    before: z.int().default(Number.MAX_SAFE_INTEGER),
    limit: z.int(),
  }),
  row,
  sql: `
    SELECT delivery_id FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND delivery_id < {before: UInt64}
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`,
})

/** The same of those that are in one state. */
export const deliveryPageOfState = defineQuery({
  name: 'webhook_delivery_page_of_state',
  params: z.object({
    subscription_id: z.string(),
    state: z.enum(DELIVERY_STATES),
    before: z.int().default(Number.MAX_SAFE_INTEGER),
    limit: z.int(),
  }),
  row,
  sql: `
    WITH if({state: String} = 'pending', ${SETTLED_BEFORE}, 0) AS first
    SELECT delivery_id FROM webhook_deliveries
    LEFT JOIN
    (
        SELECT delivery_id, ${STATE_OF_ATTEMPTS} AS state
        FROM webhook_attempts
        WHERE subscription_id = {subscription_id: String} AND delivery_id >= first AND delivery_id < {before: UInt64}
        GROUP BY delivery_id
    ) AS tried USING (delivery_id)
    WHERE subscription_id = {subscription_id: String} AND delivery_id >= first AND delivery_id < {before: UInt64}
      AND if(tried.state = '', 'pending', tried.state) = {state: String}
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`,
})
