import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime, integerText } from '../store/values.js'
import { FLOW_PARTS } from './flow-parts.js'

/**
 * What flowed on all edges together in each hour that [from, to) touches, oldest first; hours without a flow are rows
 * too. Of the first and the last hour only what lies in [from, to) counts. Volumes in 1e-6 USD. A transaction counts once
 * for each edge that it flows on, so that the hours add up to the edges.
 */
export const flowHours = defineQuery({
  name: 'flow_hours',
  params: z.object({ from: z.date(), to: z.date() }),
  row: z.object({ hour_start: dateTime, volume_micros: integerText, tx_count: z.int(), unpriced_count: z.int() }),
  sql: `
    WITH ${FLOW_PARTS}
    SELECT hour_start, toString(volume) AS volume_micros, tx_count, unpriced_count
    FROM
    (
        SELECT toStartOfHour(window_start) AS hour_start, sum(micros) AS volume,
               toUInt32(sum(transactions)) AS tx_count, toUInt32(sum(unpriced)) AS unpriced_count
        FROM parts
        GROUP BY hour_start
        ORDER BY hour_start
        WITH FILL FROM toStartOfHour(toDateTime(range_from, 'UTC')) TO toDateTime(range_to, 'UTC') STEP INTERVAL 1 HOUR
    )
    ORDER BY hour_start`,
})
