import { fillFlowBuckets, fillFlowEdgeStarts } from '../flows/buckets.js'
import { fillPegMinutes } from '../peg/minutes.js'

/** A table that a materialized view fills, and that can be made anew from the facts that the view reads. */
export type DerivedTable = {
  facts: string
  /** The column that says to which day a row belongs, and how it follows from a fact's block_time. */
  time: string
  timeOfFact: string
  /** Columns that hold the state of an aggregate function, which differs where its result does. */
  states: readonly string[]
  /**
   * The statement that computes the rows whose time lies between {first: UInt32} and {last: UInt32}, both included,
   * and inserts them into a table with the same columns.
   */
  fill: (table: string) => string
}

/** Every table that can be rebuilt, by name. */
export const DERIVED_TABLES = {
  peg_minutes: {
    facts: 'peg_samples',
    time: 'minute_end',
    timeOfFact: 'toStartOfMinute(block_time + 59)',
    states: [],
    fill: fillPegMinutes,
  },
  flow_buckets: {
    facts: 'flows',
    time: 'window_start',
    timeOfFact: 'toStartOfFifteenMinutes(block_time)',
    states: ['tx_count'],
    fill: fillFlowBuckets,
  },
  flow_edge_starts: {
    facts: 'flows',
    time: 'first_window',
    timeOfFact: 'toStartOfFifteenMinutes(block_time)',
    states: [],
    fill: fillFlowEdgeStarts,
  },
} as const satisfies Record<string, DerivedTable>

export type DerivedTableName = keyof typeof DERIVED_TABLES
