import { z } from 'zod'
import { defineRow, onlyColumn } from '../store/define-query.js'
import { integerText, toDecimals } from '../store/values.js'
import { MAX_SAMPLE_SECONDS } from './price.js'
import { DEVIATION } from './sums.js'
import { inWindowOrder, LONGEST_PEG_WINDOW, PEG_WINDOWS } from './windows.js'

const sum = integerText.transform(BigInt)

/**
 * Sums over a window: the seconds in which a price held, these times its distance from 1 in millionths and times the square of
 * that, and the seconds in which a sample without a price held.
 */
const HeldSums = z.tuple([sum, sum, sum, sum]).transform(([quoted_seconds, distances, squares, unquoted_seconds]) => ({
  quoted_seconds,
  distances,
  squares,
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
        `(sumIf(${heldWithin(seconds)}, sell_micros IS NOT NULL), sum(${heldWithin(seconds)} * distance), sum(${heldWithin(seconds)} * distance * distance), sumIf(${heldWithin(seconds)}, sell_micros IS NULL))`,
    ).join(', ')}] AS windows
    FROM
    (
        SELECT sell_micros, toInt64(ifNull(${DEVIATION}, 0)) AS distance, toInt64(toUnixTimestamp(block_time)) AS held_from,
               least(leadInFrame(held_from, 1, toInt64(toUnixTimestamp({as_of: DateTime}))) OVER
                         (ORDER BY block_time, block_number ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING),
                     held_from + ${MAX_SAMPLE_SECONDS}) AS held_until
        FROM peg_samples
        WHERE stable = {stable: String}
          AND block_time > {as_of: DateTime} - ${LONGEST_PEG_WINDOW + MAX_SAMPLE_SECONDS} AND block_time <= {as_of: DateTime}
    )`,
})

/**
 * The time-weighted average price and its standard deviation, to 8 decimals, halves up, and the root mean square distance from 1
 * in basis points, to 4; null without a second in which a price held. The seconds of the window of `seconds` are those with a
 * price, those without one, and those of which nothing is known; the share without one is of the first two, null without either.
 */
export function timeWeighted(
  { quoted_seconds: n, distances, squares, unquoted_seconds: unquoted }: HeldSums,
  seconds: number,
) {
  const hasPrice = n > 0n
  const twap = (200n * (1_000_000n * n + distances) + n) / (2n * (n || 1n))
  return {
    twap: hasPrice ? Number(twap) / 1e8 : null,
    stddev: hasPrice ? toDecimals(Math.sqrt(Number(n * squares - distances * distances)) / Number(n) / 1e6, 8) : null,
    rms_bps: hasPrice ? toDecimals(Math.sqrt(Number(squares) / Number(n)) / 100, 4) : null,
    quoted_seconds: Number(n),
    unquoted_seconds: Number(unquoted),
    unmeasured_seconds: seconds - Number(n + unquoted),
    unquoted_share: n + unquoted > 0n ? toDecimals(Number(unquoted) / Number(n + unquoted), 6) : null,
  }
}
