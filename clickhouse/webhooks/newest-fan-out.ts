import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { safeInteger } from '../store/values.js'

/** Up to which event deliveries have been made, and before which number all deliveries are over; zeros at first. */
export const newestFanOut = defineQuery({
  name: 'newest_fan_out',
  params: z.object({}),
  row: z.object({ sequence: z.int(), settled_before: safeInteger }),
  sql: `
    SELECT toUInt32(max(sequence_number)) AS sequence, max(settled_before) AS settled_before
    FROM webhook_fan_outs`,
})
