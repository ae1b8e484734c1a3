import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/** What the deliveries of these numbers send, `data` as JSON text. In no order. */
export const deliveryContents = defineQuery({
  name: 'delivery_contents',
  params: z.object({ ids: z.array(z.int()) }),
  row: z.object({ delivery_id: safeInteger, event_type: z.string(), event_id: z.string(), data: z.string() }),
  sql: `
    SELECT delivery_id, event_type, event_id, data FROM webhook_deliveries WHERE delivery_id IN {ids: Array(UInt64)}`,
})
