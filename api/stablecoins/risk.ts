import { z } from 'zod'
import { Coverage, coverageOf, type DataState, withState } from '../../clickhouse/chain/coverage.js'
import type { Asked } from '../../clickhouse/chain/missing.js'
import { searchedTo } from '../../clickhouse/chain/searched.js'
import { lateSecondsOf } from '../../clickhouse/jobs/periods.js'
import { RISK_WEIGHTS } from '../../clickhouse/risk/score.js'
import { type RiskSnapshotRow, riskAt } from '../../clickhouse/risk/snapshots.js'
import { PolicyType } from '../../clickhouse/stablecoins/newest-states.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds, WEEK_SECONDS } from '../../process/instants.js'
import { lastSeconds } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { publicationOf, publicationShape } from '../answers/known-at.js'
import type { Creation } from '../answers/stable.js'
import { ExtendedRisk, extendedRiskOf } from './extended-risk.js'

const score = z.number().min(0).max(100)
const count = z.int().nonnegative()
const integerText = z.string().regex(/^\d+$/)

const RiskInputs = z.object({
  quoted_count_24h: count.meta({ description: 'Samples with a price in the 24 hours up to computed_at' }),
  unquoted_count_24h: count.meta({ description: 'Samples without one' }),
  unquoted_share_24h: z.number().min(0).max(1).nullable().meta({
    description:
      'Share of the measured time of the 24 hours without a price; null if not measured, and for a stable that is not in USD',
  }),
  unquoted_since: z.iso.datetime().nullable().meta({
    description:
      'Since when it could not be sold; 60 seconds before computed_at or longer count as an open severe break. null while it could, and if that was not measured',
  }),
  stddev_bps_24h: z
    .number()
    .nullable()
    .meta({ description: 'Standard deviation of the price over time in basis points; null without a price' }),
  max_deviation_bps_24h: z.number().nullable().meta({
    description: 'Largest distance from 1 of a price that held for a second, in basis points; null without a price',
  }),
  has_open_mild: z.boolean().meta({ description: 'Whether a mild peg break is ongoing' }),
  has_open_severe: z.boolean().meta({ description: 'Whether a severe peg break is ongoing' }),
  mild_events_7d: count.meta({ description: 'Mild peg breaks under way at any time of the last 7 days' }),
  severe_events_7d: count.meta({ description: 'Severe peg breaks under way at any time of the last 7 days' }),
  supply: z
    .object({
      current: integerText.meta({ description: 'Supply' }),
      cap: integerText.nullable().meta({ description: 'null when there is no cap' }),
    })
    .nullable()
    .meta({ description: 'Supply and cap in base units; null if the state was never read' }),
  policy: z
    .object({
      type: PolicyType,
      policy_id: integerText.meta({ description: 'Number of the policy on the chain' }),
      paused: z.boolean().meta({ description: 'Whether all transfers are stopped' }),
    })
    .nullable()
    .meta({ description: 'null when the state was never read' }),
  state_block_number: z.int().nullable().meta({ description: 'Block at whose end supply and policy were read' }),
  policy_events_7d: count.meta({ description: 'Times that the policy was changed in the last 7 days' }),
})

const WEIGHTED_SUM = Object.entries(RISK_WEIGHTS)
  .map(([component, tenths]) => `${tenths / 10} ${component}`)
  .join(' + ')

const RiskResponse = z.object({
  address: stableAddress,
  composite: score.meta({
    description: `Higher is riskier: ${WEIGHTED_SUM}`,
  }),
  components: z
    .object({
      peg_risk: score.meta({ description: '0 to 100, by the spread of the price in 24 hours' }),
      peg_break_risk: score.meta({ description: '0 to 100, by open peg breaks and those of seven days' }),
      supply_risk: score.meta({ description: '0 to 100, by how close the supply is to its cap' }),
      policy_risk: score.meta({ description: '0 to 100, by who may send and receive, and how often that changed' }),
    })
    .meta({ description: 'The components of the score' }),
  computed_at: z.iso.datetime().meta({ description: 'The five-minute mark that the score is about' }),
  methodology: z.string().meta({ description: 'Version of the formula' }),
  inputs: RiskInputs.meta({ description: 'Inputs of the score, so that anyone can recompute it' }),
  extended: ExtendedRisk.meta({
    description: 'A second score, with liquidity and concentration, that no bad news lowers',
  }),
  coverage: Coverage,
  ...publicationShape,
})

function inputsState({ inputs }: RiskSnapshotRow): DataState {
  const { unquoted_share_24h: share, supply } = inputs
  const missing = [
    ...(share === null ? ['its peg was not sampled in 24 hours, or it is not a USD stablecoin'] : []),
    ...(supply === null ? ['its supply and policy were never read'] : []),
  ]
  if (missing.length > 0) {
    const points = 'A component that was not measured counts 100 points.'
    return { status: 'partial', message: `Not every component was measured: ${missing.join(', and ')}. ${points}` }
  }
  const unquoted = share ? ` It could not be sold for ${Number((100 * share).toFixed(4))} % of the 24 hours.` : ''
  return { status: 'complete', message: `Every component was measured.${unquoted}` }
}

/** The price of a day, and the peg breaks and policy events of a week. */
const asksOf = ({ stable, at, since }: { stable: string; at: Date; since: Creation | undefined }): Asked => ({
  families: ['pegs', 'state', 'logs'],
  logsOf: ['token', 'policies'],
  stable,
  since,
  ...lastSeconds(at, WEEK_SECONDS),
})

export const riskRoute = endpoint({
  path: '/stablecoins/:address/risk',
  tag: 'risk',
  operationId: 'getRisk',
  summary: 'How risky a stable is, and what the score is made of',
  description:
    'Computed every five minutes of chain time and stored with every revision. Without known_at, the newest revision of a past score is returned, which may have been published later.',
  about: 'snapshot',
  response: RiskResponse,
  cache: CACHE_POLICIES.risk,
  covers: (asked) => ({ ...asksOf(asked), jobs: ['peg-events'] }),
  answer: async ({ app, stable, at, knownAt, ledger, searches, since, signal }) => {
    const row = await riskAt(app.clickhouse, { stable, as_of: at, known_at: knownAt }, { signal })
    if (!row) return null
    const { slot_at, inputs, revision: _, published_at: __, ...snapshot } = row
    const extended = await extendedRiskOf(app.clickhouse, { stable, slot_at, known_at: knownAt }, { signal })
    const unquoted_since = inputs.unquoted_since && isoSeconds(inputs.unquoted_since)
    const asks = asksOf({ stable, at, since })
    const breaks = searches.map((search) => ({ ...search, isPart: true }))
    const searched = [searchedTo(slot_at.getTime() / 1000, lateSecondsOf('risk')), ...breaks]
    return {
      address: stable,
      ...snapshot,
      inputs: { ...inputs, unquoted_since },
      extended,
      computed_at: slot_at.toISOString(),
      coverage: withState(coverageOf(ledger, { ...asks, searches: searched }), inputsState(row)),
      ...publicationOf(row, knownAt),
    }
  },
})
