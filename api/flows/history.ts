import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { historyStart } from '../../clickhouse/chain/history.js'
import { flowEdges, flowGraph, flowHours, usd } from '../../clickhouse/flows/flows.js'
import { BadParameterError } from '../../process/errors.js'
import { HOUR_SECONDS, isoSeconds } from '../../process/instants.js'
import { endpoint } from '../answers/endpoint.js'
import { NotFoundError } from '../http/errors.js'
import { Count, FlowGraph, Usd } from './shapes.js'

/** In the reference stable. */
const PRICE = '0.02'
const LONGEST_DAYS = 366
const MONTH_SECONDS = 30 * 86_400

const seconds = (description: string) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be unix epoch seconds')
    .transform(Number)
    .refine((value) => value <= 0xffff_ffff, 'must be unix epoch seconds')
    .meta({ type: 'integer', description, examples: [1782907200] })

const FlowsHistory = z.object({
  from: z.iso.datetime().meta({ description: 'Start of the window' }),
  to: z.iso.datetime().meta({ description: 'End of the window, not included' }),
  window_hours: z.int().meta({ description: 'Length of the window in hours, rounded up' }),
  ...FlowGraph,
  series: z
    .array(
      z.object({
        hour_start: z.iso.datetime().meta({ description: 'Start of the hour; the first may be before from' }),
        volume_usd: Usd,
        tx_count: Count.meta({ description: 'Transactions, once for each edge that they flow on' }),
        unvalued_count: Count.meta({ description: 'Flows without a USD value, which the volume leaves out' }),
      }),
    )
    .meta({ description: 'Every hour of the window, oldest first, including hours without a flow' }),
  coverage: Coverage,
})

/** The requested window. Throws BadParameterError for an invalid one. */
function readWindow({ from, to }: { from: number; to: number }, now: Date): { from: Date; to: Date } {
  if (from >= to) throw new BadParameterError('to', 'must be later than from')
  if (to - from > LONGEST_DAYS * 86_400)
    throw new BadParameterError('to', `must be at most ${LONGEST_DAYS} days after from`)
  if (to * 1000 > now.getTime()) throw new BadParameterError('to', 'must not lie in the future')
  return { from: new Date(from * 1000), to: new Date(to * 1000) }
}

export const flowsHistoryRoute = endpoint({
  path: '/stablecoins/flows/history',
  tag: 'flows',
  operationId: 'getFlowHistory',
  summary: 'Flows between stables in any window, in total and by hour',
  description: `Costs ${PRICE} of the reference stable per query, nothing with a subscription key. A window has at most ${LONGEST_DAYS} days.`,
  about: 'now',
  query: {
    from: seconds('Start of the window, in unix epoch seconds'),
    to: seconds('End of the window, not included, in unix epoch seconds'),
  },
  response: FlowsHistory,
  problems: [400, 401, 402, 404, 503],
  price: PRICE,
  cost: ({ query: { from, to } }) => 1 + Math.floor(Math.max(to - from, 0) / MONTH_SECONDS),
  check: async ({ app, query, signal }) => {
    const { to } = readWindow(query, app.now())
    const start = await historyStart(app.clickhouse, { signal })
    if (!start || to <= start)
      throw new NotFoundError('before-history', `to ${isoSeconds(to)} is before the start of history`, 'to')
  },
  // The second `to` is not part of the window.
  covers: ({ query: { from, to } }) => ({ families: ['logs'], from, to: to - 1, isPriced: true }),
  answer: async ({ app, query, signal }) => {
    const window = readWindow(query, app.now())
    const [edges, hours] = await Promise.all([
      flowEdges(app.clickhouse, window, { signal }),
      flowHours(app.clickhouse, window, { signal }),
    ])
    return {
      from: isoSeconds(window.from),
      to: isoSeconds(window.to),
      window_hours: Math.ceil((query.to - query.from) / HOUR_SECONDS),
      ...flowGraph(edges),
      series: hours.map(({ hour_start, volume_micros, ...counts }) => ({
        hour_start: isoSeconds(hour_start),
        volume_usd: usd(BigInt(volume_micros)),
        ...counts,
      })),
    }
  },
})
