import { z } from 'zod'
import { Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { integerText, stableAddress } from '../../clickhouse/store/values.js'
import {
  BASELINE_DAYS,
  ISSUANCE_SECONDS,
  ISSUANCE_WINDOWS,
  issuanceAt,
  LargestChange,
} from '../../clickhouse/supply/issuance.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfEcho, beforeHistory, lastSeconds } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { Label, labelOf } from './labels.js'

const amount = integerText.nullable()
const figure = z.number().nullable()
const count = z.int().nonnegative()
const percent = figure.meta({ description: 'The same in per cent of supply_at_start; null if that is null or 0' })
const tokens = figure.meta({ description: 'The same in whole tokens' })

const IssuanceWindow = z.object({
  window: z
    .enum(ISSUANCE_WINDOWS.map(({ window }) => window))
    .meta({ description: 'Its length; it ends at windows_as_of' }),
  minted: amount.meta({ description: 'In base units: 6 decimals; null if nothing of the window was measured' }),
  minted_tokens: tokens,
  minted_pct: percent,
  burned: amount.meta({ description: 'In base units, with what was burned from blocked accounts' }),
  burned_tokens: tokens,
  burned_pct: percent,
  net_issuance: amount.meta({ description: 'Minted minus burned, in base units' }),
  net_issuance_tokens: tokens,
  net_issuance_pct: percent,
  mint_count: count.meta({ description: 'Number of mints' }),
  burn_count: count.meta({ description: 'Number of burns' }),
  supply_at_start: amount.meta({
    description:
      'Supply when the window began, in base units; 0 before the stable was made; null if it was not measured',
  }),
  supply_at_start_tokens: tokens,
  supply_block_number: z.int().nullable().meta({
    description: 'Height of the block at which that supply was read; null if it was not, or before the stable was made',
  }),
  coverage: Coverage,
})

const BurnSurge = z.object({
  ratio: figure.meta({
    description:
      'What was burned in the last 24 hours, divided by the mean of a day of the baseline; null with fewer than seven baseline_days, or if nothing was burned in them',
  }),
  baseline_days: count
    .max(BASELINE_DAYS)
    .meta({ description: 'Days of the 30 before the last 24 hours that were measured as a whole' }),
  baseline_burned: amount.meta({ description: 'What was burned in these days, in base units; null without any' }),
  baseline_daily_tokens: figure.meta({ description: 'The mean of these days, in whole tokens; null without any' }),
})

const Change = LargestChange.extend({ label: Label })

const Issuance = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  windows_as_of: z.iso
    .datetime()
    .meta({ description: 'The instant at which the windows end: the newest stored block, or as_of' }),
  windows: z.array(IssuanceWindow).meta({ description: 'Of the last 24 hours, 7 days and 30 days, in this order' }),
  burn_surge: BurnSurge.meta({ description: 'Whether far more is burned than usual' }),
  largest_mints: z
    .array(Change)
    .meta({ description: 'Top ten mints of the last 30 days, descending; of equal ones the newest first' }),
  largest_burns: z.array(Change).meta({ description: 'Top ten burns of the last 30 days, likewise' }),
  coverage: Coverage,
})

/** What was minted and burned of a stable. */
export const issuanceRoute = endpoint({
  path: '/stablecoins/:address/issuance',
  tag: 'stablecoins',
  operationId: 'getIssuance',
  summary: 'Mints and burns of a stable over 24h, 7d and 30d',
  description:
    'In tokens and as a share of the supply before, with the largest mints and burns. The supply series has them by bucket.',
  about: 'moment',
  response: Issuance,
  cache: CACHE_POLICIES.issuance,
  covers: ({ stable, at, since }) => ({
    families: ['logs'],
    logsOf: ['token'],
    stable,
    since,
    ...lastSeconds(at, ISSUANCE_SECONDS),
    isOfWindows: true,
  }),
  answer: async ({ app, stable, at, cutoff, since, ledger, coverage, signal }) => {
    if (since && since.block_time > at.getTime() / 1000) throw beforeHistory(at, 'the stable was created')
    const { largest_mints, largest_burns, state, ...figures } = await issuanceAt(
      app.clickhouse,
      { stable, since, at: cutoff, ledger },
      { signal },
    )
    const labelled = (changes: readonly LargestChange[]) =>
      changes.map((change) => ({ ...change, label: labelOf(change.account, at) }))
    return {
      address: stable,
      windows_as_of: isoSeconds(cutoff),
      ...figures,
      largest_mints: labelled(largest_mints),
      largest_burns: labelled(largest_burns),
      coverage: withState(coverage, state),
    }
  },
})
