import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { FAMILIES } from '../chain/batches.js'
import { defineQuery } from '../store/define-query.js'
import { TABLES } from '../tables.js'
import { type FactTable, factTables, isByStable } from './facts.js'
import { rereadTable } from './replace.js'
import { notLetGo } from './retention.js'

const DifferingFact = z.looseObject({ surplus: z.int(), differing: z.int(), compared: z.int() })

const Params = z.object({
  from_block: z.int(),
  to_block: z.int(),
  /** Compares only these blocks; all if empty. */
  blocks: z.array(z.int()),
  /** Of tables that are read per stable, compares only these stables; all if empty. */
  stables: z.array(z.string()),
  from_time: z.int(),
  to_time: z.int(),
  /** Of tables whose old rows are let go, compares only later ones. */
  let_go_until: z.int(),
  most: z.int(),
})
type ComparedBlocks = z.infer<typeof Params>

/** The genesis stables of block 0 were written with block 1. */
const inBlocks = `block_number BETWEEN if({from_block: UInt64} = 1, 0, {from_block: UInt64}) AND {to_block: UInt64}
                  AND (empty({blocks: Array(UInt64)}) OR has({blocks: Array(UInt64)}, greatest(block_number, 1)))`

const inStables = 'AND (empty({stables: Array(String)}) OR has({stables: Array(String)}, stable))'

const differingRows = Object.fromEntries(
  factTables.map((table) => {
    const timeFilter = TABLES[table].isPartitioned
      ? 'AND block_time BETWEEN {from_time: UInt32} AND {to_time: UInt32}'
      : ''
    const stableFilter = isByStable(table) ? inStables : ''
    const query = defineQuery({
      name: `differing_${table}`,
      params: Params,
      row: DifferingFact,
      sql: `
        WITH compared AS
        (
            SELECT * EXCEPT side, toInt32(sum(side)) AS surplus, toUInt32(countIf(side = -1)) AS expected
            FROM
            (
                SELECT *, 1 AS side FROM ${table} WHERE ${inBlocks} ${stableFilter} ${timeFilter} ${notLetGo(table)}
                UNION ALL
                SELECT *, -1 AS side FROM ${rereadTable(table)} WHERE 1 ${stableFilter} ${notLetGo(table)}
            )
            GROUP BY ALL
        )
        SELECT * EXCEPT expected, toUInt32(countIf(surplus != 0) OVER ()) AS differing, toUInt32(sum(expected) OVER ()) AS compared
        FROM compared
        ORDER BY surplus = 0, block_number, tuple(COLUMNS('.*'))
        LIMIT {most: UInt32}`,
    })
    return [table, query]
  }),
) as Record<FactTable, ReturnType<typeof defineQuery<typeof DifferingFact, typeof Params>>>

/**
 * How the facts of `table` in some blocks differ from those that were read again: at most `most` rows, differing ones
 * first, in the order of their columns, so that a wrong row is next to the one that should be there. `surplus` is how many more copies of a row the table has than it should: negative if some are missing, 0 if
 * the row is correct. `differing` is how many rows differ, `compared` how many were read again.
 */
export async function differingFacts(
  clickhouse: ClickHouseClient,
  table: FactTable,
  blocks: ComparedBlocks,
): Promise<{ compared: number; differing: number; rows: Array<{ surplus: number; [column: string]: unknown }> }> {
  const rows = await differingRows[table](clickhouse, blocks)
  const { compared, differing } = rows[0] ?? { compared: 0, differing: 0 }
  return { compared, differing, rows: rows.map(({ compared: _, differing: __, ...row }) => row) }
}

const countOf = (table: FactTable): string => `
    SELECT '${table}' AS fact_table, toYYYYMM(block_time) AS month, toUInt32(count()) AS fact_count FROM ${table}
    WHERE (block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64} OR {from_block: UInt64} = 1 AND block_number = 0)
      ${TABLES[table].isPartitioned ? 'AND block_time BETWEEN {from_time: UInt32} AND {to_time: UInt32}' : ''}
      ${isByStable(table) ? 'AND stable NOT IN {except: Array(String)} AND (empty({only: Array(String)}) OR stable IN {only: Array(String)})' : ''}
      ${notLetGo(table)}
      AND has({families: Array(String)}, '${TABLES[table].family}')
    GROUP BY month`

/**
 * The number of facts per table and month (yyyymm, in UTC) in the tables of `families`, for the blocks `from_block` to
 * `to_block`, both included. `from_time` and `to_time` are the times of those blocks in unix seconds. Months without
 * facts have no row. Of tables that are read per stable, only the stables in `only` count, or all if it is empty, and
 * never those in `except`. The genesis stables of block 0 count as block 1's. Of tables whose old rows are let go, only later
 * ones than `let_go_until` count.
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
    let_go_until: z.int(),
  }),
  row: z.object({ fact_table: z.enum(factTables), month: z.int(), fact_count: z.int() }),
  sql: factTables.map(countOf).join('\n    UNION ALL'),
})
