import { z } from 'zod'
import { BlockRanges, IN_RANGES } from '../chain/block-ranges.js'
import { defineQuery } from '../store/define-query.js'
import { factTables } from './facts.js'

const misplaced = factTables
  .filter((table) => table !== 'blocks')
  .map(
    (table) => `
    SELECT '${table}' AS fact_table, toUInt32(count()) AS facts FROM ${table}
    WHERE ${IN_RANGES} AND (block_number, block_time) NOT IN (SELECT block_number, block_time FROM blocks)`,
  )

/** How many facts of each table, in blocks of these ranges, name a block that is not in `blocks`, or another time than its own. */
export const misplacedFacts = defineQuery({
  name: 'misplaced_facts',
  params: z.object({ ranges: BlockRanges }),
  row: z.object({ fact_table: z.enum(factTables), facts: z.int() }),
  sql: misplaced.join('\n    UNION ALL'),
})
