import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { currentPegs } from '../../clickhouse/queries/current-pegs.js'
import { type CurrentPeg, currentPeg } from '../../clickhouse/queries/peg-at.js'
import { recentSupplyEvents, SupplyEventRow } from '../../clickhouse/queries/recent-supply-events.js'
import { StablecoinState, stablecoinState, stablecoinStates } from '../../clickhouse/queries/stablecoin-states.js'
import { pegCoverage } from '../../domain/coverage.js'
import { problemResponses } from '../problem.js'
import { querySignal } from '../query-signal.js'
import { Coverage, CurrentPrice } from '../shapes.js'
import { NoQuery, requireStable, StableParams, unknownStable } from './stable-params.js'

const { price_vs_refusd: price, ...sample } = CurrentPrice.shape

const Stable = StablecoinState.extend({
  peg: z
    .object({ price, ...sample })
    .nullable()
    .meta({ description: 'null for a stable that has no price; coverage says why' }),
  coverage: Coverage,
})

const StableDetail = Stable.extend({
  recent_supply_events: z.array(SupplyEventRow),
  role_holders: z.object({ coverage: Coverage, roles: z.array(z.never()) }),
})

const ROLES_UNAVAILABLE = {
  coverage: { status: 'unavailable' as const, message: 'Role holders are not worked out from the role events yet.' },
  roles: [],
}

function withPeg<State>(state: State, { newest, current }: CurrentPeg) {
  const coverage = pegCoverage(newest?.status ?? null, current !== null)
  if (current === null) return { ...state, peg: null, coverage }
  const { price_vs_refusd: price, ...sample } = current
  return { ...state, peg: { price, ...sample }, coverage }
}

const NEVER_SAMPLED: CurrentPeg = { newest: null, current: null }

export const stablecoinsRoutes: FastifyPluginAsyncZod = async (app) => {
  const tags = ['stablecoins']

  const listSchema = {
    tags,
    summary: 'Every tracked stable with its peg, supply and policy',
    querystring: NoQuery,
    response: { 200: z.object({ stablecoins: z.array(Stable) }), ...problemResponses(400, 503) },
  }
  app.get('/stablecoins', { schema: listSchema }, async (request) => {
    const signal = querySignal(request)
    const [states, pegs] = await Promise.all([
      stablecoinStates(app.clickhouse, {}, { signal }),
      currentPegs(app.clickhouse, {}, { signal }),
    ])
    return {
      stablecoins: states.map((state) => withPeg(state, pegs.get(state.address) ?? NEVER_SAMPLED)),
    }
  })

  const detailSchema = {
    tags,
    summary: 'One stable: the same, its last supply events and its role holders',
    params: StableParams,
    querystring: NoQuery,
    response: { 200: StableDetail, ...problemResponses(400, 404, 503) },
  }
  app.get('/stablecoins/:address', { schema: detailSchema }, async (request) => {
    const stable = request.params.address
    await requireStable(app, stable)
    const signal = querySignal(request)
    const [[state], peg, recent_supply_events] = await Promise.all([
      stablecoinState(app.clickhouse, { stable }, { signal }),
      currentPeg(app.clickhouse, { stable }, { signal }),
      recentSupplyEvents(app.clickhouse, { stable }, { signal }),
    ])
    if (!state) throw unknownStable(stable)
    return {
      ...withPeg(state, peg),
      recent_supply_events,
      role_holders: ROLES_UNAVAILABLE,
    }
  })
}
