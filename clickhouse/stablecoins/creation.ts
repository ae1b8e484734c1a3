import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** How a stable came to be, and whether every block since then is in; nothing for an unknown address. */
export const creation = defineQuery({
  name: 'creation',
  params: z.object({ stable: z.string() }),
  row: z.object({ is_genesis: z.boolean(), is_covered: z.boolean() }),
  // Each number comes from the index of the table alone, so that it costs the same whatever the length of history.
  sql: `
    WITH
        (SELECT block_number FROM stablecoins WHERE stable = {stable: String}) AS created,
        (SELECT count() FROM blocks WHERE block_number >= ifNull(created, 0)) AS blocks_since,
        (SELECT max(block_number) FROM blocks) AS newest
    SELECT toBool(block_number = 0) AS is_genesis, toBool(toInt64(blocks_since) > toInt64(newest) - toInt64(block_number)) AS is_covered
    FROM stablecoins WHERE stable = {stable: String}`,
})
