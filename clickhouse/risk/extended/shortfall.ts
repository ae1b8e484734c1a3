import { z } from 'zod'
import { DAY_SECONDS } from '../../../process/instants.js'
import { heldSamples, heldWithin } from '../../peg/held.js'
import { DEPTH_SIZES, INCONCLUSIVE, MAX_SAMPLE_SECONDS } from '../../peg/price.js'
import { defineQuery } from '../../store/define-query.js'
import { toDecimals } from '../../store/values.js'
import { UNQUOTED_BPS } from './score.js'

/** The size whose price counts, in whole tokens: a bid of one token says nothing, and every stable has this one. */
const [SIZE] = DEPTH_SIZES
const SIZE_RAW = SIZE * 1_000_000
const RAW_OF_BPS = SIZE_RAW / 10_000

/** The worst time is one in so many seconds: 2.5 %, which are 36 minutes of a day. */
const ONE_IN = 40

/** A depth sample holds at most this long, in seconds: it is taken at the first block of five minutes at the latest. */
export const MAX_DEPTH_SECONDS = 300 + MAX_SAMPLE_SECONDS

const seconds = z.int().nonnegative()

/**
 * How long depth samples held in the 24 hours, in seconds, and by how much less than 1 the size sold for in the worst time: pairs
 * of base units and the seconds in which it was as much, worst first, for the worst time at least.
 */
const DepthsOfDay = z.object({ depth_seconds: seconds, worst: z.array(z.tuple([z.int().nonnegative(), seconds])) })
export type DepthsOfDay = z.output<typeof DepthsOfDay>

const AT = '{at: DateTime}'

/**
 * Of every stable with a depth sample that held in the 24 hours up to `at`. Samples that do not say whether anybody would buy count
 * as none.
 */
export const depthsOfDay = defineQuery({
  name: 'risk_depths',
  params: z.object({ at: z.date() }),
  row: DepthsOfDay.extend({ stable: z.string() }),
  sql: `
    SELECT stable, toUInt32(sum(held)) AS depth_seconds, arrayReverseSort(groupArray((toUInt32(shortfall), toUInt32(held)))) AS depths,
           arrayFilter((depth, until) -> ${ONE_IN} * (until - depth.2) < depth_seconds, depths, arrayCumSum(depths.2)) AS worst
    FROM
    (
        SELECT stable, shortfall, sum(${heldWithin(AT, DAY_SECONDS)}) AS held
        FROM
        (${heldSamples({
          table: 'depth_samples',
          columns: `if(sell_raw IS NULL, ${UNQUOTED_BPS * RAW_OF_BPS}, greatest(${SIZE_RAW} - toInt64(assumeNotNull(sell_raw)), 0)) AS shortfall`,
          where: `size_tokens = ${SIZE} AND sell_status NOT IN (${INCONCLUSIVE.map((status) => `'${status}'`).join(', ')})`,
          until: AT,
          seconds: DAY_SECONDS,
          most: MAX_DEPTH_SECONDS,
        })}
        )
        GROUP BY stable, shortfall
        HAVING held > 0
    )
    GROUP BY stable`,
})

/**
 * The expected shortfall at 97.5 %: by how much less than 1 the size sold for on average in the worst 2.5 % of the time in which
 * depth samples held, in basis points, to four decimals; UNQUOTED_BPS without a price. A price above 1 is none. A little time
 * with a better price changes nothing, and neither does another number of samples of the same prices.
 */
export function expectedShortfall({ depth_seconds, worst }: DepthsOfDay): number {
  let left = depth_seconds
  let sum = 0
  for (const [shortfall, held] of worst) {
    const counted = Math.min(ONE_IN * held, left)
    sum += shortfall * counted
    left -= counted
  }
  return toDecimals(sum / depth_seconds / RAW_OF_BPS, 4)
}
