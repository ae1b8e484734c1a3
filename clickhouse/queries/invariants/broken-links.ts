import { z } from 'zod'
import { defineQuery } from '../../define-query.js'

/** Blocks that are there twice, or are no child of the block that is there with the number before; the first ten. */
export const brokenLinks = defineQuery({
  name: 'broken_links',
  params: z.object({}),
  row: z.object({ block_number: z.int(), previous_number: z.int() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, toUInt32(previous_number) AS previous_number
    FROM
    (
        SELECT block_number, parent_hash,
               lagInFrame(block_number) OVER chain AS previous_number, lagInFrame(block_hash) OVER chain AS previous_hash
        FROM blocks
        WINDOW chain AS (ORDER BY block_number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
    )
    WHERE previous_number = block_number OR (previous_hash != '' AND previous_number = block_number - 1 AND previous_hash != parent_hash)
    ORDER BY block_number
    LIMIT 10`,
})
