import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** What the stables that there were at `at` are called, by address. */
export const stablecoinNames = defineQuery({
  name: 'stablecoin_names',
  params: z.object({ at: z.date() }),
  row: z.object({ address: z.string(), symbol: z.string(), name: z.string() }),
  sql: `
    SELECT stable AS address, symbol, name FROM stablecoins
    WHERE block_time <= {at: DateTime} ORDER BY address`,
})
