import { z } from 'zod'
import { Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { tradeSumsAt, volumeWeighted } from '../../clickhouse/flows/vwap.js'
import { heldSumsAt, timeWeighted } from '../../clickhouse/peg/averages.js'
import { LONGEST_PEG_WINDOW, PEG_WINDOWS } from '../../clickhouse/peg/windows.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfEcho, lastSeconds } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { PEG_PERIODS_TEXT, PEG_WINDOWS_TEXT, PegWindow } from '../answers/shapes.js'

const count = z.int().nonnegative()
const price = z.number().nonnegative().nullable()

const AveragesResponse = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  windows_as_of: z.iso
    .datetime()
    .meta({ description: 'The instant at which the windows end: the newest stored block, or as_of' }),
  coverage: Coverage,
  windows: z
    .array(
      z.object({
        window: PegWindow.shape.window,
        twap: price.meta({
          description:
            'Time-weighted average price for selling one token, in the reference stable: a price holds from its block to the next one, for at most 120 seconds; null if none held',
        }),
        stddev: price.meta({ description: 'Time-weighted standard deviation of that price; null if none held' }),
        rms_bps: price.meta({
          description:
            'Time-weighted root mean square distance of that price from 1.00, in basis points; null if none held',
        }),
        quoted_seconds: count.meta({ description: 'Seconds of the window in which a price held' }),
        unquoted_seconds: count.meta({
          description: 'Seconds in which the newest sample had no price; not in the average',
        }),
        unmeasured_seconds: count.meta({
          description:
            'Seconds of which nothing is known, as no block of the last 120 seconds is in; not in the average',
        }),
        unquoted_share: z.number().min(0).max(1).nullable().meta({
          description: 'unquoted_seconds / (quoted_seconds + unquoted_seconds); null without either',
        }),
        vwap: price.meta({
          description:
            'Volume-weighted average price of the trades on its own book, in the reference stable; null without trades',
        }),
        trade_count: count.meta({
          description: 'Fills of orders on its own book, without those of the taker’s own orders',
        }),
        unvalued_trade_count: count.meta({
          description: 'Fills of which the value is unknown, as its quote token had no price; in none of the figures',
        }),
        volume_tokens: z.number().nonnegative().meta({ description: 'Tokens traded' }),
        volume_usd: z.string().meta({ description: 'The same in the reference stable' }),
      }),
    )
    .meta({ description: `Of the last ${PEG_PERIODS_TEXT}, in this order` }),
})

export const averagesRoute = endpoint({
  path: '/stablecoins/:address/peg/averages',
  tag: 'peg',
  operationId: 'getPegAverages',
  summary: `Time-weighted and volume-weighted average prices over ${PEG_WINDOWS_TEXT}`,
  description:
    'The time-weighted average is made of the price for selling one token at the end of every block; the volume-weighted one of the trades on the book of the stable and its quote token.',
  about: 'moment',
  response: AveragesResponse,
  cache: CACHE_POLICIES.averages,
  covers: ({ stable, at, since }) => ({
    families: ['pegs', 'logs'],
    logsOf: ['exchange'],
    stable,
    since,
    ...lastSeconds(at, LONGEST_PEG_WINDOW),
    isOfWindows: true,
  }),
  answer: async ({ app, stable, cutoff, coverage, signal }) => {
    const [held, trades] = await Promise.all([
      heldSumsAt(app.clickhouse, { stable, as_of: cutoff }, { signal }),
      tradeSumsAt(app.clickhouse, { stable, as_of: cutoff }, { signal }),
    ])
    const windows = PEG_WINDOWS.map(({ window, seconds }) => ({
      window,
      ...timeWeighted(held[window], seconds),
      ...volumeWeighted(trades[window]),
    }))
    const priced = windows.filter(({ twap }) => twap !== null).length
    return {
      address: stable,
      windows_as_of: isoSeconds(cutoff),
      coverage:
        priced === windows.length
          ? coverage
          : withState(coverage, {
              status: priced === 0 ? 'unavailable' : 'partial',
              message: `${windows.length - priced} of ${windows.length} windows have no price.`,
            }),
      windows,
    }
  },
})
