import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { insertRows } from '../store/insert.js'

/** An excursion from the peg as one slot knows it; the columns are described in the migration. Times in unix seconds. */
export const PegExcursion = z.object({
  stable: z.string(),
  severity: z.enum(['mild', 'severe']),
  started_at: z.int(),
  started_block: z.int(),
  confirmed_at: z.int().nullable(),
  ended_at: z.int().nullable(),
  ended_block: z.int().nullable(),
  max_deviation_micros: z.int(),
})
export type PegExcursion = z.infer<typeof PegExcursion>

type PegEventRow = PegExcursion & { revision: number; slot_at: number; is_deleted: 0 | 1 }

/**
 * A subquery of the excursions that any slot from `instant` on, an expression, has written: among them all that were
 * going on then, because every slot writes what goes on. Costs the same however many there are before. The index finds
 * their keys only: used on the rows as well, it might leave a newer one out and let an older one pass for it.
 */
export const pegEventsSince = (instant: string): string => `
  SELECT * FROM peg_events FINAL
  WHERE (stable, severity, started_at, started_block) IN
        (SELECT stable, severity, started_at, started_block FROM peg_events WHERE slot_at >= ${instant})
  SETTINGS use_skip_indexes_if_final = 0`

/** Writes what a slot has found; a row replaces those of the same excursion that are of older slots or revisions. */
export function insertPegEvents(
  clickhouse: ClickHouseClient,
  rows: readonly PegEventRow[],
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'peg_events', rows, token)
}
