import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineRow } from '../../clickhouse/store/define-query.js'
import { QueryError } from '../../clickhouse/store/query-error.js'
import { catchUp } from '../../clickhouse/store/replicas.js'
import { type DerivedTable, TABLES } from '../../clickhouse/tables.js'
import { PlumblineError } from '../../process/errors.js'
import { DAY_SECONDS } from '../../process/instants.js'
import { type Derived, daysOf, differingRows } from './compare-days.js'

/**
 * The size of ingest's ledger, which grows with every write. `is_open` is true while a batch or rollback is unfinished or
 * an insert is running. The refresh of a view is an insert too, but not one of facts: the engine names it in its log
 * comment.
 */
const ledgerSize = defineRow({
  name: 'ledger_size',
  row: z.object({ batches: z.int(), rollbacks: z.int(), is_open: z.boolean() }),
  sql: `
    SELECT toUInt32((SELECT count() FROM ingest_batches)) AS batches, toUInt32((SELECT count() FROM ingest_rollbacks)) AS rollbacks,
           (
               (SELECT count() FROM (
                   SELECT track
                   FROM (SELECT track, state, max(sequence_number) AS newest FROM ingest_batches GROUP BY track, state)
                   GROUP BY track HAVING maxIf(newest, state = 'committed') < max(newest)
               ))
               + (SELECT count() FROM (SELECT sequence_number FROM ingest_rollbacks GROUP BY sequence_number HAVING max(state) = 'planned'))
               + (SELECT count() FROM system.processes
                  WHERE query_kind = 'Insert' AND current_database = currentDatabase()
                        AND NOT startsWith(Settings['log_comment'], 'refresh of '))
               > 0
           )::Bool AS is_open`,
})

/** Facts are being written, so a table rebuilt from them would miss some. */
class WriterActiveError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: true })
  }
}

/** `differing` is the number of rows that only one of the two tables has; `shown` are the first of them. */
type RebuildReport = { days: number; differing: number; shown: string[] }

/** The maximum number of differing rows in a report. */
const MAX_SHOWN = 10

/**
 * Rebuilds a derived table from the facts beside the old one, day by day, compares the two, and swaps them in one step.
 * The old table is in use until then. After a kill, run the rebuild again.
 *
 * Ingest must be stopped, because its view only fills the old table. Rejects with WriterActiveError if anything was written
 * meanwhile: before the swap, the old table stays in use; during the swap, the rebuild has to be repeated.
 */
export async function rebuild(clickhouse: ClickHouseClient, name: DerivedTable): Promise<RebuildReport> {
  const { time, derived } = TABLES[name]
  const table: Derived = { time, ...derived }
  const rebuilt = `${name}_rebuilt`
  const run = async (query: string, query_params: Record<string, unknown> = {}): Promise<void> => {
    try {
      // Days without rows give identical empty inserts, which deduplication would take for repeats.
      await clickhouse.command({ query, query_params, clickhouse_settings: { insert_deduplicate: 0 } })
    } catch (cause) {
      throw new QueryError(`rebuild ${name}`, cause)
    }
  }
  const readLedgerSize = async () => {
    const { batches, rollbacks, is_open } = await ledgerSize(clickhouse)
    if (is_open)
      throw new WriterActiveError(`a batch is unfinished: let ingest finish it, stop ingest, then rebuild ${name}`)
    return `${batches}:${rollbacks}`
  }

  const before = await readLedgerSize()
  await catchUp(clickhouse)
  await run(`DROP TABLE IF EXISTS ${rebuilt} SYNC`)
  await run(`CREATE TABLE ${rebuilt} AS ${name}`)
  const report: RebuildReport = { days: 0, differing: 0, shown: [] }
  const differing = differingRows(name, rebuilt, table)
  for (const day of await daysOf(name, table)(clickhouse)) {
    await run(table.fill(rebuilt), { first: day, last: day + DAY_SECONDS - 1 })
    const rows = await differing(clickhouse, { day })
    report.days++
    report.differing += rows[0]?.differing ?? 0
    for (const { is_old, differing: _, ...row } of rows) {
      if (report.shown.length < MAX_SHOWN) report.shown.push(`${is_old ? 'old' : 'new'}: ${JSON.stringify(row)}`)
    }
  }
  if ((await readLedgerSize().catch(() => 'open')) !== before) {
    await run(`DROP TABLE ${rebuilt} SYNC`)
    throw new WriterActiveError(
      `ingest wrote during the rebuild: stop ingest, then rebuild ${name} again. The old table is still in use.`,
    )
  }
  await run(`EXCHANGE TABLES ${name} AND ${rebuilt}`)
  if ((await readLedgerSize().catch(() => 'open')) !== before)
    throw new WriterActiveError(
      `ingest wrote while the new ${name} was put into use: stop ingest, then rebuild ${name} again`,
    )
  await run(`DROP TABLE ${rebuilt} SYNC`)
  return report
}
