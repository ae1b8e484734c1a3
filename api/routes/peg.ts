import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { historyStart } from '../../clickhouse/queries/history-start.js'
import { livePeg, type Peg, pegAt } from '../../clickhouse/queries/peg-at.js'
import { isoSeconds, parseAsOf } from '../../domain/as-of.js'
import { pegCoverage } from '../../domain/coverage.js'
import { PEG_WINDOWS, type PegSums, windowFigures } from '../../domain/peg-window.js'
import { problemResponses } from '../problem.js'
import { querySignal } from '../query-signal.js'
import { NotFoundError } from '../request-errors.js'
import { Coverage, CurrentPrice, PegWindow } from '../shapes.js'
import { requireStable, StableParams } from './stable-params.js'

const PegResponse = z.object({
  address: z.string(),
  as_of: z.iso.datetime().optional().meta({ description: 'The requested point in time; not in live answers' }),
  current: CurrentPrice.nullable().meta({ description: 'The nearest sample with a price; null when there is none' }),
  coverage: Coverage,
  windows: z.array(PegWindow),
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
  const schema = {
    tags: ['peg'],
    summary: 'Price against the reference stable, now or at any time, and its 1h, 24h and 7d windows',
    params: StableParams,
    querystring: z.strictObject({
      as_of: z
        .string()
        .optional()
        .meta({
          description:
            'A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now',
          examples: ['2026-07-01T12:00:00Z', '2026-07-01', '1782907200', '30m', '24h', '7d'],
        }),
    }),
    response: { 200: PegResponse, ...problemResponses(400, 404, 503) },
  }
  app.get('/stablecoins/:address/peg', { schema }, async (request, reply) => {
    const { address } = request.params
    const asOf = request.query.as_of === undefined ? null : parseAsOf(request.query.as_of, app.now())
    await requireStable(app, address)
    const signal = querySignal(request)
    if (asOf === null) return { address, ...published(await livePeg(app.clickhouse, { stable: address }, { signal })) }

    const beforeHistory = () =>
      new NotFoundError('before-history', `as_of ${isoSeconds(asOf)} is before the start of history`, 'as_of')
    if (asOf.getTime() < WEEK_MS) throw beforeHistory()
    const peg = await pegAt(app.clickhouse, { stable: address, as_of: asOf }, { signal })
    if (peg.newest === null) {
      const [history] = await historyStart(app.clickhouse, {}, { signal })
      if (!history || asOf < history.started_at) throw beforeHistory()
    }
    const as_of = isoSeconds(asOf)
    reply.header('x-service-as-of', as_of)
    return { address, as_of, ...published(peg) }
  })
}
