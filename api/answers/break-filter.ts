import { z } from 'zod'
import { Severity } from '../../clickhouse/peg/break-filter.js'
import { DEPTH_SIZES } from '../../clickhouse/peg/price.js'
import { END_OF_TIME } from '../../process/instants.js'

const SEVERITY = { description: 'Only peg breaks of this severity' }
const MIN_BPS = { description: 'Only peg breaks whose max_deviation_bps is at least this, as far as is known' }
const MIN_SECONDS = { description: 'Only peg breaks that have lasted at least this long, as far as is known' }
const MIN_SIZE = {
  description:
    'Only peg breaks whose standing_tokens is at least this; not those of which it is unknown, nor agreed breaks',
}

/** No break is known to stand for more. */
const LARGEST_SIZE = Math.max(...DEPTH_SIZES)

/** The query parameters that filter peg breaks. Other events pass. */
export const BreakFilterQuery = {
  severity: Severity.optional().meta(SEVERITY),
  min_bps: z.coerce.number().positive().optional().meta(MIN_BPS),
  min_seconds: z.coerce.number().int().positive().max(END_OF_TIME).optional().meta(MIN_SECONDS),
  min_size: z.coerce.number().int().positive().max(LARGEST_SIZE).optional().meta(MIN_SIZE),
}

/** The filters of peg breaks as fields of a body and of an answer; null does not filter. */
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
  min_size: z
    .int()
    .positive()
    .max(LARGEST_SIZE)
    .nullable()
    .meta({ description: `${MIN_SIZE.description}; null: any` }),
}
