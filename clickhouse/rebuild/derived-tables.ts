import { fillPegMinutes } from '../tables/peg-minutes.js'

/** A table that a materialized view fills, and that can be made anew from the facts that the view reads. */
export type DerivedTable = {
  facts: string
  /** The column that says to which day a row belongs. */
  time: string
  /**
   * The statement that computes the rows whose time lies between {first_minute_end: UInt32} and
   * {last_minute_end: UInt32}, both included, and inserts them into a table with the same columns.
   */
  fill: (table: string) => string
}

/** Every table that can be rebuilt, by name. */
export const DERIVED_TABLES = {
  peg_minutes: { facts: 'peg_samples', time: 'minute_end', fill: fillPegMinutes },
} as const satisfies Record<string, DerivedTable>

export type DerivedTableName = keyof typeof DERIVED_TABLES
