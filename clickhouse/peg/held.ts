import { z } from 'zod'
import { integerText } from '../store/values.js'
import { DEVIATION } from './sums.js'

/**
 * A subquery for the samples of a table that hold at any time in the `seconds` up to the instant `until`, in SQL, each with when
 * that begins and ends, in unix seconds. A sample is the state at the end of its block: it holds from the block's time to that of
 * the stable's next sample, to the instant if that is earlier, and for `most` seconds at most. So one before the window may hold
 * in it, and of several blocks in a second only the last does.
 *
 * Without a partition by stable the engine streams the samples in the order of the table instead of sorting them in memory.
 */
export const heldSamples = ({
  table,
  columns,
  where,
  until,
  seconds,
  most,
}: {
  table: string
  columns: string
  where: string
  until: string
  seconds: number
  most: number
}): string => `
        SELECT stable, ${columns}, toInt64(toUnixTimestamp(block_time)) AS held_from,
               least(if(leadInFrame(stable) OVER following = stable, leadInFrame(held_from) OVER following, toInt64(toUnixTimestamp(${until}))),
                     held_from + ${most}) AS held_until
        FROM ${table}
        WHERE ${where} AND block_time > ${until} - ${seconds + most} AND block_time <= ${until}
        WINDOW following AS (ORDER BY stable, block_time, block_number ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)`

/** For how many of the `seconds` up to the instant `until` one of those samples held, in SQL. */
export const heldWithin = (until: string, seconds: number): string =>
  `greatest(held_until - greatest(held_from, toUnixTimestamp(${until}) - ${seconds}), 0)`

/** The columns of peg samples that `heldSums` sums up. */
export const HELD_PRICE = `sell_micros, toInt64(ifNull(${DEVIATION}, 0)) AS distance`

/** The sums of HeldSums over peg samples that hold for `held` seconds, in SQL. */
export const heldSums = (held: string): string =>
  `(sumIf(${held}, sell_micros IS NOT NULL), sum(${held} * distance), sum(${held} * distance * distance), sumIf(${held}, sell_micros IS NULL))`

const sum = integerText.transform(BigInt)

/**
 * Sums over a window: the seconds in which a price held, these times its distance from 1 in millionths and times the square of
 * that, and the seconds in which a sample without a price held.
 */
export const HeldSums = z
  .tuple([sum, sum, sum, sum])
  .transform(([quoted_seconds, distances, squares, unquoted_seconds]) => ({
    quoted_seconds,
    distances,
    squares,
    unquoted_seconds,
  }))
export type HeldSums = z.output<typeof HeldSums>
