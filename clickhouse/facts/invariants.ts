import { z } from 'zod'
import { BlockRanges, IN_RANGES } from '../chain/invariants.js'
import { defineQuery } from '../store/define-query.js'
import { type FactTable, factTables, isByStable } from './facts.js'

/** Tables with one row per log: those of families that need no state, except `blocks`. */
const logTables: readonly FactTable[] = factTables.filter((table) => table !== 'blocks' && !isByStable(table))

const factsPerLog = (table: FactTable): string => `
            SELECT block_number, log_index, '${table}' AS fact_table, count() AS facts FROM ${table}
            WHERE ${IN_RANGES} GROUP BY block_number, log_index`

/**
 * The first ten blocks in these ranges that have the same log twice in one table, a fact of a log that the block does
 * not have, or more fees than transactions.
 */
export const miscountedBlocks = defineQuery({
  name: 'miscounted_blocks',
  params: z.object({ ranges: BlockRanges }),
  row: z.object({ block_number: z.int(), reason: z.string() }),
  sql: `
    SELECT toUInt32(logs.block_number) AS block_number,
           multiIf(most > 1, 'has a log twice in one table', last_log >= log_count, 'has facts of logs that it does not have',
                   'has more fees than transactions') AS reason
    FROM
    (
        SELECT block_number, max(log_index) AS last_log, max(facts) AS most, sumIf(facts, fact_table = 'fees_paid') AS fees
        FROM (${logTables.map(factsPerLog).join('\n            UNION ALL')})
        GROUP BY block_number
    ) AS logs
    INNER JOIN blocks ON blocks.block_number = logs.block_number
    WHERE most > 1 OR last_log >= log_count OR fees > tx_count
    ORDER BY block_number
    LIMIT 10`,
})

const misplaced = factTables
  .filter((table) => table !== 'blocks')
  .map(
    (table) => `
    SELECT '${table}' AS fact_table, toUInt32(count()) AS facts FROM ${table}
    WHERE ${IN_RANGES} AND (block_number, block_time) NOT IN (SELECT block_number, block_time FROM blocks)`,
  )

/**
 * For each table, how many facts in these block ranges name a block that is not in `blocks`, or a time that is not the
 * block's.
 */
export const misplacedFacts = defineQuery({
  name: 'misplaced_facts',
  params: z.object({ ranges: BlockRanges }),
  row: z.object({ fact_table: z.enum(factTables), facts: z.int() }),
  sql: misplaced.join('\n    UNION ALL'),
})
