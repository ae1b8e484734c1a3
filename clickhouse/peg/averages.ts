import { z } from 'zod'
import { defineRow, onlyColumn } from '../store/define-query.js'
import { toDecimals } from '../store/values.js'
import { HELD_PRICE, HeldSums, heldSamples, heldSums, heldWithin } from './held.js'
import { MAX_SAMPLE_SECONDS } from './price.js'
import { inWindowOrder, LONGEST_PEG_WINDOW, PEG_WINDOWS } from './windows.js'

const AS_OF = '{as_of: DateTime}'

/** A stable's sums over each peg window as of an instant. */
export const heldSumsAt = defineRow({
  name: 'held_sums_at',
  params: z.object({ stable: z.string(), as_of: z.date() }),
  row: onlyColumn('windows', inWindowOrder(HeldSums)),
  sql: `
    SELECT [${PEG_WINDOWS.map(({ seconds }) => heldSums(heldWithin(AS_OF, seconds))).join(', ')}] AS windows
    FROM
    (${heldSamples({
      table: 'peg_samples',
      columns: HELD_PRICE,
      where: 'stable = {stable: String}',
      until: AS_OF,
      seconds: LONGEST_PEG_WINDOW,
      most: MAX_SAMPLE_SECONDS,
    })}
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
