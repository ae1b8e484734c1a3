import { z } from 'zod'
import { defineRow } from '../store/define-query.js'
import { TABLES } from '../tables.js'
import { type FactTable, factTables } from './facts.js'

/** The tables of the catalogue. */
const CATALOGUE = factTables.filter((table) => TABLES[table].family === 'catalogue')

const orderId = z.string().regex(/^\d+$/)

// Orders are found by id: a block's are anywhere in a table that is sorted so.
const countOf = (table: FactTable): string => `
        (SELECT toUInt32(count()) FROM ${table}
         WHERE ${table === 'dex_orders' ? 'order_id BETWEEN toUInt128({from_order: String}) AND toUInt128({to_order: String}) AND ' : ''}block_number BETWEEN greatest({from_block: UInt64}, 1) AND {to_block: UInt64}) AS ${table}`

/**
 * The number of stored rows of the blocks `from_block` to `to_block`, both included, by table of the catalogue. Of the
 * orders, only those with ids from `from_order` to `to_order`, both included, count. The genesis stables of block 0 do not
 * count.
 */
export const catalogueCounts = defineRow({
  name: 'catalogue_counts',
  params: z.object({ from_block: z.int(), to_block: z.int(), from_order: orderId, to_order: orderId }),
  row: z.record(z.enum(CATALOGUE), z.int()),
  sql: `
    SELECT${CATALOGUE.map(countOf).join(',')}`,
})
