import { z } from 'zod'
import { Coverage, coverageOf } from '../../clickhouse/chain/coverage.js'
import type { Asked } from '../../clickhouse/chain/missing.js'
import { Tier } from '../../clickhouse/chain/token-lists.js'
import { type CurrentPeg, currentPeg, currentPegs } from '../../clickhouse/peg/current.js'
import { speaksFor } from '../../clickhouse/peg/price.js'
import { type StableFigures, stableFiguresAt, stableFiguresOf } from '../../clickhouse/risk/overview.js'
import {
  placeOf,
  StablecoinState,
  StablePlace,
  stablecoinStateAt,
  stablecoinStatesAt,
} from '../../clickhouse/stablecoins/states.js'
import { recentSupplyEvents, SupplyEventRow } from '../../clickhouse/supply/supply.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfQuery, beforeHistory, lastSeconds, PastEcho, STATE_SECONDS } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { CursorQuery, LimitQuery, MOST_ROWS, NextCursor, page } from '../answers/cursor.js'
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

const Listed = Stable.extend({
  tracked: z.boolean().meta({ description: 'Whether its peg is sampled in every block' }),
  max_deviation_24h_bps: z
    .number()
    .nonnegative()
    .nullable()
    .meta({ description: 'Largest distance from 1.00 in the last 24 hours, in basis points; null without a price' }),
  risk_score: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .meta({ description: 'Newest composite score of /risk, higher is riskier; null without one in the last hour' }),
  risk_computed_at: z.iso.datetime().nullable().meta({ description: 'The instant of that score; null without one' }),
  open_break: z
    .object({
      severity: z.enum(['mild', 'severe']).meta({ description: 'mild: over 10 basis points; severe: over 50' }),
      started_at: z.iso.datetime().meta({ description: 'Time of the first block outside' }),
      started_block: z.int().meta({ description: 'Height of that block' }),
    })
    .nullable()
    .meta({
      description: 'The worst peg break that is under way; null if none was found. coverage says what was read',
    }),
})

const StablecoinsResponse = z.object({
  as_of: PastEcho,
  stablecoins: z
    .array(Listed)
    .meta({ description: 'Those on the token list first, then the others in use, then the rest; each by symbol' }),
  next_cursor: NextCursor,
})

const FilterQuery = {
  tier: Tier.optional().meta({ description: 'Only stables that are, or are not, on the token list of the chain' }),
  symbol: z.string().max(200).optional().meta({ description: 'Only stables with exactly this symbol' }),
  currency: z.string().max(200).optional().meta({ description: 'Only stables of this currency, such as USD' }),
  tracked: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'Only stables whose pegs are, or are not, sampled' }),
  limit: LimitQuery.default(MOST_ROWS),
  cursor: CursorQuery(StablePlace),
}

const StableDetail = Listed.extend({
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

/** The cut-off of states. While ingest is far behind, the catalogue is ahead of it, and has stables that exist by now. */
const stateInstant = (at: Date, cutoff: Date): Date => (speaksFor(cutoff, at) ? cutoff : at)

/** What the state of a stable at an instant is about. */
const asksOf = (at: Date, stable?: string, since?: Creation): Asked => ({
  families: ['pegs', 'state'],
  stable,
  since,
  ...lastSeconds(at, STATE_SECONDS),
})

const published = ({ open_break, risk_computed_at, ...figures }: StableFigures) => ({
  ...figures,
  risk_computed_at: risk_computed_at?.toISOString() ?? null,
  open_break: open_break && { ...open_break, started_at: isoSeconds(open_break.started_at) },
})

export const stablecoinsRoute = endpoint({
  path: '/stablecoins',
  tag: 'stablecoins',
  operationId: 'listStablecoins',
  summary: 'Every tracked stable with its peg, supply and policy',
  description:
    'Start here: the other routes take the addresses listed here. Stables without a price are included. Anybody can create stables: an answer has up to 500, and `cursor` gives the others.',
  about: 'moment',
  query: { ...AsOfQuery, ...FilterQuery },
  response: StablecoinsResponse,
  cache: CACHE_POLICIES.stablecoins,
  covers: ({ at }) => asksOf(at),
  answer: async ({ app, at, cutoff, ledger, query: { as_of: _, limit, cursor, ...filters }, reads }) => {
    const [states, pegs, figures] = await Promise.all([
      stablecoinStatesAt(
        app.clickhouse,
        { at: stateInstant(at, cutoff), ...filters, after: cursor, limit: limit + 1 },
        reads,
      ),
      currentPegs(app.clickhouse, { as_of: cutoff }, reads),
      stableFiguresAt(app.clickhouse, { at }, reads),
    ])
    const { rows, next_cursor } = page(states, limit, placeOf)
    const entryOf = async (state: (typeof rows)[number]) => {
      const { address } = state
      const tracked = pegs(address).unsampled === null
      const measured = coverageOf(ledger, asksOf(at, address, await app.stables.creationOf(address)))
      return { ...withPeg({ ...state, tracked }, pegs(address), at, measured), ...published(figures(address)) }
    }
    return { stablecoins: await Promise.all(rows.map(entryOf)), next_cursor }
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
  answer: async ({ app, stable, at, asOf, cutoff, coverage, ledger, since, reads }) => {
    const [state, peg, figures, recent_supply_events, role_holders] = await Promise.all([
      stablecoinStateAt(app.clickhouse, { stable, at: stateInstant(at, cutoff) }, reads),
      currentPeg(app.clickhouse, { stable, as_of: cutoff }, reads),
      stableFiguresOf(app.clickhouse, { at, stable }, reads),
      recentSupplyEvents(app.clickhouse, { stable, at: cutoff }, reads),
      readRoles(app.clickhouse, { stable, at, ledger, since }, reads),
    ])
    if (!state) throw asOf === null ? unknownStable(stable) : beforeHistory(at, 'the stable was created')
    const tracked = peg.unsampled === null
    return {
      ...withPeg({ ...state, tracked }, peg, at, coverage),
      ...published(figures),
      recent_supply_events,
      role_holders,
    }
  },
})
