import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { FLOW_PARTS } from './flow-parts.js'

/**
 * What flowed between each two stables in [from, to), as sums of 1e-6 USD; in no order. `tx_count` is of distinct
 * transactions; `unpriced_count` flows have no USD value and are missing from the volume. A token that is no known
 * stable goes by its address. Bridge flows have one stable only and are left out.
 */
export const flowEdges = defineQuery({
  name: 'flow_edges',
  params: z.object({ from: z.date(), to: z.date() }),
  row: z.object({
    from: z.string(),
    to: z.string(),
    from_address: z.string(),
    to_address: z.string(),
    volume_micros: integerText,
    tx_count: z.int(),
    unpriced_count: z.int(),
  }),
  sql: `
    WITH symbols AS (SELECT stable, symbol FROM stablecoins), ${FLOW_PARTS}
    SELECT if(source.symbol = '', from_token, source.symbol) AS from, if(target.symbol = '', to_token, target.symbol) AS to,
           from_token AS from_address, to_token AS to_address, volume_micros, tx_count, unpriced_count
    FROM
    (
        SELECT from_token, to_token, toString(sum(micros)) AS volume_micros,
               toUInt32(sum(transactions)) AS tx_count, toUInt32(sum(unpriced)) AS unpriced_count
        FROM parts
        GROUP BY from_token, to_token
    ) AS edges
    LEFT JOIN symbols AS source ON source.stable = edges.from_token
    LEFT JOIN symbols AS target ON target.stable = edges.to_token`,
})
