import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/** The number of the newest delivery; nothing while there is none. Reads the end of the table, not all of it. */
export const newestDelivery = defineQuery({
  name: 'newest_delivery',
  params: z.object({}),
  row: z.object({ delivery_id: safeInteger }),
  sql: 'SELECT delivery_id FROM webhook_deliveries ORDER BY delivery_id DESC LIMIT 1',
})
