import { CHOICES_IN_SPANS, fillFeeChoices, SPAN_START } from '../../clickhouse/fees/choices.js'
import { fillFlowBuckets, fillFlowEdgeStarts, WINDOW_START } from '../../clickhouse/flows/buckets.js'
import { fillPegMinutes } from '../../clickhouse/peg/minutes.js'
import { fillQuoteHours, QUOTE_HOUR } from '../../clickhouse/peg/quote-hours.js'
import { MINUTE_END } from '../../clickhouse/peg/sums.js'

/** A table that a materialized view fills, and that can be rebuilt from the facts that the view reads. */
export type DerivedTable = {
  facts: string
  /** The column with the time of a row, which decides its day, and its expression from a fact's block_time. */
  time: string
  timeOfFact: string
  /**
   * The statement that computes the rows with a time from {first: UInt32} to {last: UInt32}, both included, and inserts
   * them into `table`, which has the same columns.
   */
  fill: (table: string) => string
}

/** Every table that can be rebuilt, by name. */
export const DERIVED_TABLES = {
  peg_minutes: {
    facts: 'peg_samples',
    time: 'minute_end',
    timeOfFact: MINUTE_END,
    fill: fillPegMinutes,
  },
  peg_quote_hours: {
    facts: 'peg_samples',
    time: 'hour',
    timeOfFact: QUOTE_HOUR,
    fill: fillQuoteHours,
  },
  flow_buckets: {
    facts: 'flows',
    time: 'window_start',
    timeOfFact: WINDOW_START,
    fill: fillFlowBuckets,
  },
  flow_edge_starts: {
    facts: 'flows',
    time: 'first_window',
    timeOfFact: WINDOW_START,
    fill: fillFlowEdgeStarts,
  },
  fee_choices: {
    facts: CHOICES_IN_SPANS,
    time: 'span_start',
    timeOfFact: SPAN_START,
    fill: fillFeeChoices,
  },
} as const satisfies Record<string, DerivedTable>

export type DerivedTableName = keyof typeof DERIVED_TABLES
