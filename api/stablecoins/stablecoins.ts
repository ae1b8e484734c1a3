import { z } from 'zod'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { type CurrentPeg, currentPeg, currentPegs } from '../../clickhouse/peg/current.js'
import { StablecoinState, stablecoinStateAt, stablecoinStatesAt } from '../../clickhouse/stablecoins/states.js'
import { recentSupplyEvents, SupplyEventRow } from '../../clickhouse/supply/supply.js'
import { beforeHistory, PastEcho } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { Coverage, CurrentPrice } from '../answers/shapes.js'
import { unknownStable } from '../answers/stable.js'
import { Roles, readRoles } from './roles.js'

const { price_vs_refusd: price, ...sample } = CurrentPrice.shape

const Stable = StablecoinState.extend({
  peg: z
    .object({ price, ...sample })
    .nullable()
    .meta({ description: 'null for a stable that has no price; coverage says why' }),
  coverage: Coverage,
})

const StablecoinsResponse = z.object({
  as_of: PastEcho,
  stablecoins: z.array(Stable).meta({ description: 'By symbol' }),
})

const StableDetail = Stable.extend({
  as_of: PastEcho,
  recent_supply_events: z.array(SupplyEventRow).meta({ description: 'The last ten, newest first' }),
  role_holders: Roles.meta({ description: 'The same as in the answer about roles' }),
})

function withPeg<State>(state: State, { newest, current }: CurrentPeg) {
  const coverage = pegCoverage(newest?.status ?? null, current !== null)
  if (current === null) return { ...state, peg: null, coverage }
  const { price_vs_refusd: price, ...sample } = current
  return { ...state, peg: { price, ...sample }, coverage }
}

const NEVER_SAMPLED: CurrentPeg = { newest: null, current: null, lost: null }

export const stablecoinsRoute = endpoint({
  path: '/stablecoins',
  tag: 'stablecoins',
  operationId: 'listStablecoins',
  summary: 'Every tracked stable with its peg, supply and policy, now or at any time',
  description: 'Start here: the other routes take the addresses listed here. Stables without a price are included.',
  about: 'moment',
  response: StablecoinsResponse,
  cache: CACHE_POLICIES.stablecoins,
  answer: async ({ app, at, signal }) => {
    const [states, pegs] = await Promise.all([
      stablecoinStatesAt(app.clickhouse, { at }, { signal }),
      currentPegs(app.clickhouse, { as_of: at }, { signal }),
    ])
    return { stablecoins: states.map((state) => withPeg(state, pegs.get(state.address) ?? NEVER_SAMPLED)) }
  },
})

export const stablecoinRoute = endpoint({
  path: '/stablecoins/:address',
  tag: 'stablecoins',
  operationId: 'getStablecoin',
  summary: 'One stable with its peg, supply, policy, latest supply events and role holders',
  description: 'All fields of the list, plus the latest mints, burns and cap changes.',
  about: 'moment',
  response: StableDetail,
  cache: CACHE_POLICIES.stablecoins,
  answer: async ({ app, stable, at, asOf, signal }) => {
    const options = { signal }
    const [state, peg, recent_supply_events, role_holders] = await Promise.all([
      stablecoinStateAt(app.clickhouse, { stable, at }, options),
      currentPeg(app.clickhouse, { stable, as_of: at }, options),
      recentSupplyEvents(app.clickhouse, { stable, at }, options),
      readRoles(app.clickhouse, { stable, at }, options),
    ])
    if (!state) throw asOf === null ? unknownStable(stable) : beforeHistory(at, 'the stable was created')
    return { ...withPeg(state, peg), recent_supply_events, role_holders }
  },
})
