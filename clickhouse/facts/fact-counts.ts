import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { FACT_TABLES, FAMILIES, type FactTable, factTables, isByStable } from './facts.js'

const countOf = (table: FactTable): string => `
    SELECT '${table}' AS fact_table, toYYYYMM(block_time) AS month, toUInt32(count()) AS fact_count FROM ${table}
    WHERE (block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64} OR {from_block: UInt64} = 1 AND block_number = 0)
      ${FACT_TABLES[table].findBy === 'time' ? 'AND block_time BETWEEN {from_time: UInt32} AND {to_time: UInt32}' : ''}
      ${isByStable(table) ? 'AND stable NOT IN {except: Array(String)} AND (empty({only: Array(String)}) OR stable IN {only: Array(String)})' : ''}
      AND has({families: Array(String)}, '${FACT_TABLES[table].family}')
    GROUP BY month`

/**
 * How many facts of each table are there by month (yyyymm, in UTC), where there are any, for the blocks `from_block` to `to_block`, both included, which lie between
 * two times in unix seconds, both included, in tables of `families`. Of what is read for each
 * stable those of the stables `only` count, or all where that is empty, but for `except`. The genesis stables of block 0
 * count as block 1's.
 */
export const factCounts = defineQuery({
  name: 'fact_counts',
  params: z.object({
    from_block: z.int(),
    to_block: z.int(),
    from_time: z.int(),
    to_time: z.int(),
    families: z.array(z.enum(FAMILIES)),
    only: z.array(z.string()),
    except: z.array(z.string()),
  }),
  row: z.object({ fact_table: z.enum(factTables), month: z.int(), fact_count: z.int() }),
  sql: factTables.map(countOf).join('\n    UNION ALL'),
})
