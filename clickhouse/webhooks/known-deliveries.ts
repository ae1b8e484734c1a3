import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/** The deliveries of these events, by what makes one the same as another: subscription, event and cause. */
export const knownDeliveries = defineQuery({
  name: 'known_deliveries',
  params: z.object({ event_ids: z.array(z.string()) }),
  row: z.object({ delivery_id: safeInteger, subscription_id: z.string(), event_id: z.string(), cause: z.string() }),
  sql: `
    SELECT delivery_id, subscription_id, event_id, cause
    FROM webhook_deliveries WHERE event_id IN {event_ids: Array(String)}`,
})
