import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The blocks `from_block` to `to_block`, both included, that are in, oldest first. Times in unix seconds. */
export const blockHashes = defineQuery({
  name: 'block_hashes',
  params: z.object({ from_block: z.int(), to_block: z.int() }),
  row: z.object({ block_number: z.int(), block_hash: z.string(), block_time: z.int() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, block_hash, toUnixTimestamp(block_time) AS block_time
    FROM blocks WHERE blocks.block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64}
    ORDER BY blocks.block_number`,
})
