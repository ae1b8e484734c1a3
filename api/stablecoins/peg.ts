import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { livePeg, type Peg, pegAt } from '../../clickhouse/peg/current.js'
import { PEG_WINDOWS, type PegSums, windowFigures } from '../../clickhouse/peg/windows.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { AS_OF_HEADER, AsOfQuery, beforeHistory, readAsOf, requireHistory } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { querySignal } from '../answers/query-signal.js'
import { Coverage, CurrentPrice, PegWindow } from '../answers/shapes.js'
import { problemResponses } from '../http/problem.js'
import { requireStable, StableParams } from './stable.js'

const PegResponse = z.object({
  address: stableAddress,
  as_of: z.iso.datetime().optional().meta({ description: 'The requested point in time; not in live answers' }),
  current: CurrentPrice.nullable().meta({ description: 'The nearest sample with a price; null when there is none' }),
  coverage: Coverage,
  windows: z.array(PegWindow).meta({ description: 'Of the last hour, day and week, in this order' }),
  windows_as_of: z.iso.datetime().nullable().meta({
    description: 'The instant at which the windows end: in live answers one of the last two five-minute marks',
  }),
})

/** Where `as_of` may not lie: a DateTime cannot hold a week before it. */
const WEEK_MS = 604_800_000

function published({ newest, current, windows, windows_as_of }: Peg) {
  return {
    current,
    coverage: pegCoverage(newest?.status ?? null, current !== null),
    windows: PEG_WINDOWS.map(({ window }, index) => ({ window, ...windowFigures(windows[index] as PegSums) })),
    windows_as_of: windows_as_of && isoSeconds(windows_as_of),
  }
}

export const pegRoute: FastifyPluginAsyncZod = async (app) => {
  const config = { cache: CACHE_POLICIES.peg }
  const schema = {
    tags: ['peg'],
    operationId: 'getPeg',
    summary: 'Price against the reference stable, now or at any time, and its 1h, 24h and 7d windows',
    description:
      'What the chain’s own exchange pays for one token, asked at every block. The windows are added up from all samples.',
    params: StableParams,
    querystring: z.strictObject(AsOfQuery),
    response: { 200: PegResponse, ...problemResponses(400, 404, 503) },
  }
  app.get('/stablecoins/:address/peg', { schema, config }, async (request, reply) => {
    const { address } = request.params
    const asOf = readAsOf(app, request.query)
    await requireStable(app, address)
    const signal = querySignal(request)
    if (asOf === null) return { address, ...published(await livePeg(app.clickhouse, { stable: address }, { signal })) }

    if (asOf.getTime() < WEEK_MS) throw beforeHistory(asOf)
    const peg = await pegAt(app.clickhouse, { stable: address, as_of: asOf }, { signal })
    if (peg.newest === null) await requireHistory(app, asOf, { signal })
    const as_of = isoSeconds(asOf)
    reply.header(AS_OF_HEADER, as_of)
    return { address, as_of, ...published(peg) }
  })
}
