import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { livePeg, type Peg, pegAt } from '../../clickhouse/peg/current.js'
import { LONGEST_PEG_WINDOW, PEG_WINDOWS, windowFigures } from '../../clickhouse/peg/windows.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { lastSeconds, PastEcho } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { CurrentPrice, PEG_PERIODS_TEXT, PEG_WINDOWS_TEXT, PegWindow } from '../answers/shapes.js'
import { publishedQuote, QuoteState } from './quote.js'

const PegResponse = z.object({
  address: stableAddress,
  as_of: PastEcho,
  current: CurrentPrice.nullable().meta({ description: 'The nearest sample with a price; null when there is none' }),
  quote: QuoteState,
  coverage: Coverage,
  windows: z.array(PegWindow).meta({ description: `Of the last ${PEG_PERIODS_TEXT}, in this order` }),
  windows_as_of: z.iso.datetime().nullable().meta({
    description: 'The instant at which the windows end: in live answers one of the last two five-minute marks',
  }),
})

function published({ windows, windows_as_of, ...peg }: Peg, at: Date, measured: Coverage) {
  return {
    ...publishedQuote(peg, at, measured),
    windows: PEG_WINDOWS.map(({ window }) => ({ window, ...windowFigures(windows[window]) })),
    windows_as_of: windows_as_of && isoSeconds(windows_as_of),
  }
}

export const pegRoute = endpoint({
  path: '/stablecoins/:address/peg',
  tag: 'peg',
  operationId: 'getPeg',
  summary: `Price against the reference stable, and its ${PEG_WINDOWS_TEXT} windows`,
  description:
    'The price that the chain’s own exchange pays for one token, sampled at every block. The windows are computed from all samples.',
  about: 'moment',
  response: PegResponse,
  cache: CACHE_POLICIES.peg,
  covers: ({ stable, at, since }) => ({
    families: ['pegs'],
    stable,
    since,
    ...lastSeconds(at, LONGEST_PEG_WINDOW),
    isOfWindows: true,
  }),
  answer: async ({ app, stable, at, asOf, cutoff, coverage, ledger, reads }) => {
    const options = { ...reads, minuteSums: app.minuteSums(ledger), samplesOf: app.edgeSamples(ledger) }
    const peg =
      asOf === null
        ? await livePeg(app.clickhouse, { stable, as_of: cutoff }, options)
        : await pegAt(app.clickhouse, { stable, as_of: asOf }, options)
    return { address: stable, ...published(peg, at, coverage) }
  },
})
