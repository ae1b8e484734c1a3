import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** How a stable came to be; nothing for an unknown address. A stable of the genesis block has block 0 and no admin. */
export const stablecoinOrigin = defineQuery({
  name: 'stablecoin_origin',
  params: z.object({ stable: z.string() }),
  row: z.object({ block_number: z.int(), created_at: dateTime, admin: z.string() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, block_time AS created_at, admin
    FROM stablecoins WHERE stable = {stable: String}
    ORDER BY stablecoins.block_number LIMIT 1`,
})
