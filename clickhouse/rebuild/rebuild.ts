import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { defineRow } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'
import { daysOf, differingRows } from './compare-days.js'
import { DERIVED_TABLES, type DerivedTable, type DerivedTableName } from './derived-tables.js'

/**
 * How much the ledger of ingest says: it grows with whatever is written. `is_open` where a batch or a rollback is
 * half-done, or an insert is running.
 */
const writerMark = defineRow({
  name: 'writer_mark',
  row: z.object({ batches: z.int(), rollbacks: z.int(), is_open: z.boolean() }),
  sql: `
    SELECT toUInt32((SELECT count() FROM ingest_batches)) AS batches, toUInt32((SELECT count() FROM ingest_rollbacks)) AS rollbacks,
           (
               (SELECT count() FROM (
                   SELECT track FROM ingest_batches GROUP BY track
                   HAVING maxIf(sequence_number, state = 'committed') < max(sequence_number)
               ))
               + (SELECT count() FROM (SELECT sequence_number FROM ingest_rollbacks GROUP BY sequence_number HAVING max(state) = 'planned'))
               + (SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND current_database = currentDatabase())
               > 0
           )::Bool AS is_open`,
})

/** The facts change, so that a table made of them would lack what comes meanwhile. */
class WriterActiveError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: true })
  }
}

/** `differing` rows of the old table, or of the new one, were not in the other; `shown` are the first of them. */
type RebuildReport = { days: number; differing: number; shown: string[] }

const DAY = 86_400
/** Differing rows that a report tells of. */
const MOST_SHOWN = 10

/**
 * Makes a derived table anew from the facts beside the old one, day by day, compares the two, and puts the new one in
 * the place of the old in one step. Until then the old one is in service; a rebuild that was killed is begun again.
 *
 * Ingest has to be stopped: the view behind the facts goes on to fill the old table alone. Rejects with
 * WriterActiveError when anything was written meanwhile, with nothing switched; that it was written in the moment of
 * the switch is told too, and the rebuild is to be repeated.
 */
export async function rebuild(clickhouse: ClickHouseClient, name: DerivedTableName): Promise<RebuildReport> {
  const table: DerivedTable = DERIVED_TABLES[name]
  const rebuilt = `${name}_rebuilt`
  const run = async (query: string, query_params: Record<string, unknown> = {}): Promise<void> => {
    try {
      // A table that is filled day by day has inserts without a row, which look like repeats.
      await clickhouse.command({ query, query_params, clickhouse_settings: { insert_deduplicate: 0 } })
    } catch (cause) {
      throw new QueryError(`rebuild ${name}`, cause)
    }
  }
  const mark = async () => {
    const { batches, rollbacks, is_open } = await writerMark(clickhouse)
    if (is_open)
      throw new WriterActiveError(`a batch is half-written: let ingest finish it, stop ingest, then rebuild ${name}`)
    return `${batches}:${rollbacks}`
  }

  const before = await mark()
  await run(`DROP TABLE IF EXISTS ${rebuilt} SYNC`)
  await run(`CREATE TABLE ${rebuilt} AS ${name}`)
  const report: RebuildReport = { days: 0, differing: 0, shown: [] }
  const differing = differingRows(name, rebuilt, table)
  for (const day of await daysOf(name, table)(clickhouse)) {
    await run(table.fill(rebuilt), { first: day, last: day + DAY - 1 })
    const rows = await differing(clickhouse, { day })
    report.days++
    report.differing += rows[0]?.differing ?? 0
    for (const { is_old, differing: _, ...row } of rows) {
      if (report.shown.length < MOST_SHOWN) report.shown.push(`${is_old ? 'old' : 'new'}: ${JSON.stringify(row)}`)
    }
  }
  if ((await mark().catch(() => 'open')) !== before) {
    await run(`DROP TABLE ${rebuilt} SYNC`)
    throw new WriterActiveError(`ingest has written meanwhile: stop it, then rebuild ${name}. The old table stays.`)
  }
  await run(`EXCHANGE TABLES ${name} AND ${rebuilt}`)
  if ((await mark().catch(() => 'open')) !== before)
    throw new WriterActiveError(`ingest has written while ${name} was switched: stop it, then rebuild it again`)
  await run(`DROP TABLE ${rebuilt} SYNC`)
  return report
}
