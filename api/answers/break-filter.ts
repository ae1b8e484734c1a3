import { z } from 'zod'
import { Severity } from '../../clickhouse/peg/break-filter.js'
import { END_OF_TIME } from '../../process/instants.js'

const SEVERITY = { description: 'Only peg breaks of this severity' }
const MIN_BPS = { description: 'Only peg breaks whose max_deviation_bps is at least this, as far as is known' }
const MIN_SECONDS = { description: 'Only peg breaks that have lasted at least this long, as far as is known' }

/** The query parameters that filter peg breaks. Other events pass. */
export const BreakFilterQuery = {
  severity: Severity.optional().meta(SEVERITY),
  min_bps: z.coerce.number().positive().optional().meta(MIN_BPS),
  min_seconds: z.coerce.number().int().positive().max(END_OF_TIME).optional().meta(MIN_SECONDS),
}

/** The same as fields of a body and of an answer; null does not filter. */
export const BreakFilterFields = {
  severity: Severity.nullable().meta({ description: `${SEVERITY.description}; null: both` }),
  min_bps: z
    .number()
    .positive()
    .nullable()
    .meta({ description: `${MIN_BPS.description} in the event; null: any` }),
  min_seconds: z
    .int()
    .positive()
    .max(END_OF_TIME)
    .nullable()
    .meta({ description: `${MIN_SECONDS.description} at the event; null: any` }),
}
