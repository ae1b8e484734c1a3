import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The addresses of all tracked stables, in no order. */
export const stablecoinAddresses = defineQuery({
  name: 'stablecoin_addresses',
  params: z.object({}),
  row: z.object({ stable: z.string() }),
  sql: 'SELECT stable FROM stablecoins',
})
