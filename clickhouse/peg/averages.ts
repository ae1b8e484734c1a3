import { z } from 'zod'
import { defineRow, onlyColumn } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { MAX_SAMPLE_SECONDS } from './price.js'
import { inWindowOrder, LONGEST_PEG_WINDOW, PEG_WINDOWS } from './windows.js'

const sum = integerText.transform(BigInt)

/**
 * Sums over a window: the seconds in which a price held, these times the price in millionths, and the seconds in which a sample
 * without a price held.
 */
const HeldSums = z.tuple([sum, sum, sum]).transform(([quoted_seconds, micros_seconds, unquoted_seconds]) => ({
  quoted_seconds,
  micros_seconds,
  unquoted_seconds,
}))
type HeldSums = z.output<typeof HeldSums>

/** The seconds of a window of this length in which a sample held. */
const heldWithin = (seconds: number): string =>
  `greatest(held_until - greatest(held_from, toUnixTimestamp({as_of: DateTime}) - ${seconds}), 0)`

/**
 * A stable's sums over each peg window as of an instant. A sample is the state at the end of its block: it holds
 * from the block's time to that of the stable's next sample, to the instant if that is earlier, and for MAX_SAMPLE_SECONDS at
 * most. So the sample before a window's start may hold in it.
 */
export const heldSumsAt = defineRow({
  name: 'held_sums_at',
  params: z.object({ stable: z.string(), as_of: z.date() }),
  row: onlyColumn('windows', inWindowOrder(HeldSums)),
  sql: `
    SELECT [${PEG_WINDOWS.map(
      ({ seconds }) =>
        `(sumIf(${heldWithin(seconds)}, sell_micros IS NOT NULL), sum(${heldWithin(seconds)} * ifNull(sell_micros, 0)), sumIf(${heldWithin(seconds)}, sell_micros IS NULL))`,
    ).join(', ')}] AS windows
    FROM
    (
        SELECT sell_micros, toInt64(toUnixTimestamp(block_time)) AS held_from,
               least(leadInFrame(held_from, 1, toInt64(toUnixTimestamp({as_of: DateTime}))) OVER
                         (ORDER BY block_time, block_number ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING),
                     held_from + ${MAX_SAMPLE_SECONDS}) AS held_until
        FROM peg_samples
        WHERE stable = {stable: String}
          AND block_time > {as_of: DateTime} - ${LONGEST_PEG_WINDOW + MAX_SAMPLE_SECONDS} AND block_time <= {as_of: DateTime}
    )`,
})

/**
 * The time-weighted average price, rounded to 8 decimals, halves up; null without a second in which a price held. The seconds
 * of the window of `seconds` are those with a price, those without one, and those of which nothing is known.
 */
export function timeWeighted({ quoted_seconds, micros_seconds, unquoted_seconds }: HeldSums, seconds: number) {
  const twap = (200n * micros_seconds + quoted_seconds) / (2n * (quoted_seconds || 1n))
  return {
    twap: quoted_seconds === 0n ? null : Number(twap) / 1e8,
    quoted_seconds: Number(quoted_seconds),
    unquoted_seconds: Number(unquoted_seconds),
    unmeasured_seconds: seconds - Number(quoted_seconds + unquoted_seconds),
  }
}
