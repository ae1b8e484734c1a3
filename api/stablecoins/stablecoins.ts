import { z } from 'zod'
import { Coverage, coverageOf } from '../../clickhouse/chain/coverage.js'
import type { Asked } from '../../clickhouse/chain/missing.js'
import { type CurrentPeg, currentPeg, currentPegs } from '../../clickhouse/peg/current.js'
import { StablecoinState, stablecoinStateAt, stablecoinStatesAt } from '../../clickhouse/stablecoins/states.js'
import { recentSupplyEvents, SupplyEventRow } from '../../clickhouse/supply/supply.js'
import { beforeHistory, lastSeconds, PastEcho, STATE_SECONDS } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { CurrentPrice } from '../answers/shapes.js'
import { type Creation, unknownStable } from '../answers/stable.js'
import { publishedQuote, QuoteState } from './quote.js'
import { Roles, readRoles } from './roles.js'

const { price_vs_refusd: price, ...sample } = CurrentPrice.shape

const Stable = StablecoinState.extend({
  peg: z
    .object({ price, ...sample })
    .nullable()
    .meta({ description: 'null for a stable that has no price; coverage says why' }),
  quote: QuoteState,
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

function withPeg<State>(state: State, peg: CurrentPeg, at: Date, measured: Coverage) {
  const { current, ...rest } = publishedQuote(peg, at, measured)
  if (current === null) return { ...state, peg: null, ...rest }
  const { price_vs_refusd: price, ...sample } = current
  return { ...state, peg: { price, ...sample }, ...rest }
}

/** What the state of a stable at an instant is about. */
const asksOf = (at: Date, stable?: string, since?: Creation): Asked => ({
  families: ['pegs', 'state'],
  stable,
  since,
  ...lastSeconds(at, STATE_SECONDS),
})

export const stablecoinsRoute = endpoint({
  path: '/stablecoins',
  tag: 'stablecoins',
  operationId: 'listStablecoins',
  summary: 'Every tracked stable with its peg, supply and policy, now or at any time',
  description: 'Start here: the other routes take the addresses listed here. Stables without a price are included.',
  about: 'moment',
  response: StablecoinsResponse,
  cache: CACHE_POLICIES.stablecoins,
  covers: ({ at }) => asksOf(at),
  answer: async ({ app, at, ledger, signal }) => {
    const [states, pegs] = await Promise.all([
      stablecoinStatesAt(app.clickhouse, { at }, { signal }),
      currentPegs(app.clickhouse, { as_of: at }, { signal }),
    ])
    return {
      stablecoins: states.map((state) => {
        const { address } = state
        const measured = coverageOf(ledger, asksOf(at, address, app.stables.creationOf(address)))
        return withPeg(state, pegs(address), at, measured)
      }),
    }
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
  covers: ({ stable, at, since }) => asksOf(at, stable, since),
  answer: async ({ app, stable, at, asOf, coverage, ledger, signal }) => {
    const options = { signal }
    const [state, peg, recent_supply_events, role_holders] = await Promise.all([
      stablecoinStateAt(app.clickhouse, { stable, at }, options),
      currentPeg(app.clickhouse, { stable, as_of: at }, options),
      recentSupplyEvents(app.clickhouse, { stable, at }, options),
      readRoles(app.clickhouse, { stable, at, ledger, since: app.stables.creationOf(stable) }, options),
    ])
    if (!state) throw asOf === null ? unknownStable(stable) : beforeHistory(at, 'the stable was created')
    return { ...withPeg(state, peg, at, coverage), recent_supply_events, role_holders }
  },
})
