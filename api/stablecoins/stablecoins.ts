import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { type CurrentPeg, currentPeg, currentPegs } from '../../clickhouse/peg/current.js'
import { StablecoinState, stablecoinStateAt, stablecoinStatesAt } from '../../clickhouse/stablecoins/states.js'
import { recentSupplyEvents, SupplyEventRow } from '../../clickhouse/supply/supply.js'
import { AsOfQuery, beforeHistory, PastEcho, readMoment } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { querySignal } from '../answers/query-signal.js'
import { Coverage, CurrentPrice } from '../answers/shapes.js'
import { problemResponses } from '../http/problem.js'
import { Roles, readRoles } from './roles.js'
import { StableParams, unknownStable } from './stable.js'

const { price_vs_refusd: price, ...sample } = CurrentPrice.shape

const Stable = StablecoinState.extend({
  peg: z
    .object({ price, ...sample })
    .nullable()
    .meta({ description: 'null for a stable that has no price; coverage says why' }),
  coverage: Coverage,
})

const StableDetail = Stable.extend({
  as_of: PastEcho,
  recent_supply_events: z.array(SupplyEventRow).meta({ description: 'The last ten, newest first' }),
  role_holders: Roles.meta({ description: 'What the route about roles answers' }),
})

function withPeg<State>(state: State, { newest, current }: CurrentPeg) {
  const coverage = pegCoverage(newest?.status ?? null, current !== null)
  if (current === null) return { ...state, peg: null, coverage }
  const { price_vs_refusd: price, ...sample } = current
  return { ...state, peg: { price, ...sample }, coverage }
}

const NEVER_SAMPLED: CurrentPeg = { newest: null, current: null }

export const stablecoinsRoutes: FastifyPluginAsyncZod = async (app) => {
  const tags = ['stablecoins']
  const config = { cache: CACHE_POLICIES.stablecoins }

  const listSchema = {
    tags,
    operationId: 'listStablecoins',
    summary: 'Every tracked stable with its peg, supply and policy, now or at any time',
    description:
      'The place to begin: addresses found here go into all other routes. Stables without a price are listed too.',
    querystring: z.strictObject(AsOfQuery),
    response: {
      200: z.object({ as_of: PastEcho, stablecoins: z.array(Stable).meta({ description: 'By symbol' }) }),
      ...problemResponses(400, 404, 503),
    },
  }
  app.get('/stablecoins', { schema: listSchema, config }, async (request, reply) => {
    const { at, as_of } = await readMoment(app, request, reply)
    const signal = querySignal(request)
    const [states, pegs] = await Promise.all([
      stablecoinStatesAt(app.clickhouse, { at }, { signal }),
      currentPegs(app.clickhouse, { as_of: at }, { signal }),
    ])
    return {
      ...(as_of !== null && { as_of }),
      stablecoins: states.map((state) => withPeg(state, pegs.get(state.address) ?? NEVER_SAMPLED)),
    }
  })

  const detailSchema = {
    tags,
    operationId: 'getStablecoin',
    summary: 'One stable: the same, its last supply events and its role holders',
    description: 'Everything that the list says about the stable, and who did what to its supply lately.',
    params: StableParams,
    querystring: z.strictObject(AsOfQuery),
    response: { 200: StableDetail, ...problemResponses(400, 404, 503) },
  }
  app.get('/stablecoins/:address', { schema: detailSchema, config }, async (request, reply) => {
    const stable = request.params.address
    const { at, as_of } = await readMoment(app, request, reply, stable)
    const options = { signal: querySignal(request) }
    const [state, peg, recent_supply_events, role_holders] = await Promise.all([
      stablecoinStateAt(app.clickhouse, { stable, at }, options),
      currentPeg(app.clickhouse, { stable, as_of: at }, options),
      recentSupplyEvents(app.clickhouse, { stable, at }, options),
      readRoles(app.clickhouse, { stable, at }, options),
    ])
    if (!state) throw as_of === null ? unknownStable(stable) : beforeHistory(at, 'the stable was made')
    return { ...(as_of !== null && { as_of }), ...withPeg(state, peg), recent_supply_events, role_holders }
  })
}
