import { z } from 'zod'
import { defineQuery } from '../define-query.js'

/** Tables of facts that have rows for a range of blocks, and whether their rows can be found by time. */
const FACT_TABLES = {
  blocks: 'time',
  peg_samples: 'time',
  flows: 'time',
  supply_events: 'time',
  state_reads: 'time',
  dex_orders: 'time',
  quote_token_updates: 'number',
  stablecoins: 'number',
} as const

export const FactTable = z.enum(Object.keys(FACT_TABLES) as [keyof typeof FACT_TABLES])
export type FactTable = z.infer<typeof FactTable>

const countOf = ([table, by]: [string, string]): string => `
    SELECT '${table}' AS fact_table, toUInt32(count()) AS fact_count FROM ${table}
    WHERE (block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64} OR {from_block: UInt64} = 1 AND block_number = 0)
      ${by === 'time' ? 'AND block_time BETWEEN {from_time: UInt32} AND {to_time: UInt32}' : ''}`

/**
 * How many facts of each table are there for the blocks `from_block` to `to_block`, both included, which lie between
 * two times in unix seconds, both included. The genesis stables of block 0 count as block 1's.
 */
export const factCounts = defineQuery({
  name: 'fact_counts',
  params: z.object({ from_block: z.int(), to_block: z.int(), from_time: z.int(), to_time: z.int() }),
  row: z.object({ fact_table: FactTable, fact_count: z.int() }),
  sql: Object.entries(FACT_TABLES).map(countOf).join('\n    UNION ALL'),
})
