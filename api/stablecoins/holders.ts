import { z } from 'zod'
import { Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { MOST_HOLDERS } from '../../clickhouse/holders/balances.js'
import { HOLDER_WINDOWS, type HolderWindow, holdersAt } from '../../clickhouse/holders/figures.js'
import { integerText, stableAddress } from '../../clickhouse/store/values.js'
import { AsOfEcho, AsOfQuery, allUntil, beforeHistory } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { contractsAt, Label, labelOf } from './labels.js'

const count = z.int().nonnegative()
const figure = z.number().nonnegative().nullable()
const amount = integerText.meta({ description: 'In base units: 6 decimals' })
const tokens = z.number().nonnegative().meta({ description: 'The same in whole tokens' })
const Window = z.enum(Object.keys(HOLDER_WINDOWS) as [HolderWindow, ...HolderWindow[]])

const Holder = z.object({
  rank: count.meta({ description: 'From 1; of equal balances the lower address is first' }),
  address: z.string().meta({ description: 'Of the account' }),
  label: Label,
  balance: amount,
  balance_tokens: tokens,
  share_pct: z.number().meta({ description: 'Share of the supply in per cent' }),
})

const Activity = z.object({
  window: Window.meta({
    description: 'Its length; it ends with the newest stored block, coverage.measured_until, or at as_of',
  }),
  transfer_count: count.meta({
    description:
      'Transfers between two accounts: no mints, burns or fees; what a virtual address passes on counts once',
  }),
  transferred: amount.meta({ description: 'Their sum in base units: 6 decimals' }),
  transferred_tokens: tokens,
  velocity: figure.meta({
    description: 'transferred divided by the mean of the supply over the time of the window; null if that is 0',
  }),
  velocity_a_year: figure.meta({ description: 'velocity times 365, divided by the days of the window' }),
  turnover_pct: figure.meta({
    description:
      'What ended up with other accounts than it began with, in per cent of that mean: the smaller of all gains and all losses of balances',
  }),
  new_holders: count.meta({ description: 'Accounts with a balance at the end of the window and none at its start' }),
  leaving_holders: count.meta({
    description: 'Accounts with a balance at the start of the window and none at its end',
  }),
})

const Holders = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  holder_count: count.nullable().meta({
    description: 'Accounts with a balance; null if who holds the stable is not known, as are all other figures then',
  }),
  supply: amount.nullable().meta({ description: 'Sum of all balances, in base units: 6 decimals' }),
  supply_tokens: tokens.nullable().meta({ description: 'The same in whole tokens' }),
  hhi: figure.meta({
    description:
      'Herfindahl-Hirschman index: the sum of the squares of all shares in per cent, up to 10,000 for a single holder; null without holders. Of accounts: an owner may have many, and the exchange holds for many',
  }),
  gini: figure.meta({ description: 'Gini coefficient of the balances: 0 if all are equal; null without holders' }),
  top_10_pct: figure.meta({ description: 'Share of the ten largest holders in per cent; null without holders' }),
  top_100_pct: figure.meta({ description: 'Share of the hundred largest holders in per cent' }),
  without_contracts: z
    .object({
      holder_count: count.meta({ description: 'Accounts that count' }),
      supply: amount.meta({ description: 'Sum of their balances, in base units: 6 decimals' }),
      supply_tokens: tokens,
      hhi: figure.meta({ description: 'Herfindahl-Hirschman index of their balances; null without any' }),
      gini: figure.meta({ description: 'Gini coefficient of their balances; null without any' }),
    })
    .nullable()
    .meta({
      description:
        'The same of accounts with a token or more that are not known contracts, such as the exchange, bridges and vaults: those hold for many, and dust is sent to many',
    }),
  top_holders: z.array(Holder).meta({ description: 'The largest holders, descending' }),
  activity: Activity.nullable().meta({ description: 'What has moved in the window' }),
  coverage: Coverage,
})

const UNKNOWN = {
  holder_count: null,
  supply: null,
  supply_tokens: null,
  hhi: null,
  gini: null,
  top_10_pct: null,
  top_100_pct: null,
  without_contracts: null,
  activity: null,
}

/** Who holds a stable. */
export const holdersRoute = endpoint({
  path: '/stablecoins/:address/holders',
  tag: 'stablecoins',
  operationId: 'getHolders',
  summary: 'Who holds a stable, and how concentrated',
  description:
    'From all transfers since the stable was created, if TRACK_HOLDERS is set. What custodians, bridges and the DEX hold for others is theirs.',
  about: 'moment',
  query: {
    ...AsOfQuery,
    window: Window.default('24h').meta({ description: 'Length of the window of activity' }),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(MOST_HOLDERS)
      .default(10)
      .meta({ description: 'Most holders in top_holders' }),
  },
  response: Holders,
  cache: CACHE_POLICIES.holders,
  covers: ({ stable, at, since }) => ({ families: ['transfers'], stable, since, ...allUntil(at) }),
  answer: async ({ app, stable, at, cutoff, since, query: { window, limit }, ledger, coverage, signal }) => {
    if (since && since.block_time > at.getTime() / 1000) throw beforeHistory(at, 'the stable was created')
    const created = since?.block_number ?? 0
    const { figures, state } = await holdersAt(
      app.clickhouse,
      { stable, created, at: cutoff, window, contracts: contractsAt(at), ledger, coverage },
      { signal },
    )
    const top = figures?.top_holders.slice(0, limit) ?? []
    return {
      address: stable,
      ...(figures ?? UNKNOWN),
      top_holders: top.map((holder) => ({ ...holder, label: labelOf(holder.address, at) })),
      coverage: withState(coverage, state),
    }
  },
})
