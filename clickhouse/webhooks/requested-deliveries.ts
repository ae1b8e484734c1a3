import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** What a request, which has named itself, has added to a subscription before: by its cause, when and how much. */
export const requestedDeliveries = defineQuery({
  name: 'webhook_requested_deliveries',
  params: z.object({ subscription_id: z.string(), request_key: z.string() }),
  row: z.object({ cause: z.string(), asked_at: dateTime }),
  sql: `
    SELECT cause, min(event_at) AS asked_at
    FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND startsWith(cause, {request_key: String})
    GROUP BY cause`,
})
