import type { ClickHouseClient } from '@clickhouse/client'
import { differingFacts, factCounts } from '../../clickhouse/facts/compare.js'
import { type Facts, type FactTable, factTables, mergeFacts } from '../../clickhouse/facts/facts.js'
import { replaceRereadFacts } from '../../clickhouse/facts/replace.js'
import { catchUp } from '../../clickhouse/store/replicas.js'
import { TABLES } from '../../clickhouse/tables.js'
import { PlumblineError } from '../../process/errors.js'
import type { Batch } from '../batch/complete-batch.js'

/** How many differing rows are read first; few blocks have more. */
const FIRST_READ = 1000
/** How many rows an error names. */
const MOST_SHOWN = 5

/** Rows are stored that the chain does not have, or has with other values. */
export class DifferingFactsError extends PlumblineError {
  constructor({ from, to }: Batch, rows: readonly string[]) {
    const more = rows.length > MOST_SHOWN ? ` and ${rows.length - MOST_SHOWN} more` : ''
    super(
      `blocks ${from} to ${to} have rows that they do not have when they are read again, so nothing of them is written: ${rows.slice(0, MOST_SHOWN).join(', ')}${more}. Run npm run verify`,
      { retryable: false },
    )
  }
}

type Row = { surplus: number; [column: string]: unknown }

/**
 * What a batch has and the database lacks, without unknown events, and the contracts of the unknown events that the database has
 * and the batch has not.
 */
export type Lacking = { facts: Facts; rows: number; understood: string[] }

const rangeOf = ({ from, to, firstTime, lastTime }: Batch, let_go_until: number) => ({
  from_block: from,
  to_block: to,
  from_time: firstTime,
  to_time: lastTime,
  let_go_until,
})

async function differingRows(session: ClickHouseClient, table: FactTable, batch: Batch, let_go_until: number) {
  const range = { ...rangeOf(batch, let_go_until), blocks: [], stables: [] }
  const some = await differingFacts(session, table, { ...range, most: FIRST_READ })
  const isAll = some.differing <= FIRST_READ
  const { rows } = isAll ? some : await differingFacts(session, table, { ...range, most: some.differing })
  return rows.filter(({ surplus }) => surplus !== 0)
}

/**
 * Flows that differ in their value alone, which one of the two does not have: the node no longer had the prices when it was read,
 * or no longer has them.
 */
function unlessUnvalued(rows: readonly Row[]): Row[] {
  const sides = new Map<string, Row[]>()
  for (const row of rows) {
    const { surplus: _, usd_micros: __, ...rest } = row
    const key = JSON.stringify(rest)
    sides.set(key, [...(sides.get(key) ?? []), row])
  }
  return [...sides.values()]
    .filter((pair) => pair.length === 1 || pair.every(({ usd_micros }) => usd_micros !== null))
    .flat()
}

/** A log has at most one row in a table; the stables of the genesis block have no logs. */
const placeOf = ({ block_number, log_index, stable }: Record<string, unknown>): string =>
  `${Number(block_number)} ${log_index} ${Number(block_number) === 0 ? stable : ''}`

/**
 * Compares the facts of a batch, in all tables of its families, with the stored ones. `session` is a client with one, for
 * temporary tables. Throws DifferingFactsError if rows are stored that the batch does not have, other than unknown events.
 */
export async function lackingFacts(session: ClickHouseClient, batch: Batch, letGoUntil: number): Promise<Lacking> {
  await catchUp(session)
  const { families } = batch
  const stored = await factCounts(session, {
    ...rangeOf(batch, letGoUntil),
    ...{ families: [...families], only: [], except: [] },
  })
  const tables = factTables.filter(
    (table) =>
      families.includes(TABLES[table].family) &&
      (batch.facts[table].length > 0 || stored.some(({ fact_table }) => fact_table === table)),
  )
  await replaceRereadFacts(session, batch.facts, tables)
  const lacking: Array<Partial<Facts>> = []
  const surplus: string[] = []
  const understood: string[] = []
  let rows = 0
  for (const table of tables) {
    const found: Row[] = await differingRows(session, table, batch, letGoUntil)
    const differing = table === 'flows' ? unlessUnvalued(found) : found
    for (const { surplus: extra, ...row } of differing.filter((row) => row.surplus > 0)) {
      if (table === 'unknown_events') understood.push(row.contract as string)
      else surplus.push(`${table} ${extra}x ${JSON.stringify(row)}`)
    }
    if (table === 'unknown_events') continue
    const places = new Set(differing.filter((row) => row.surplus < 0).map(placeOf))
    const added = (batch.facts[table] as object[]).filter((row) => places.has(placeOf(row as Record<string, unknown>)))
    rows += added.length
    if (added.length > 0) lacking.push({ [table]: added })
  }
  if (surplus.length > 0) throw new DifferingFactsError(batch, surplus)
  return { facts: mergeFacts(lacking), rows, understood }
}
