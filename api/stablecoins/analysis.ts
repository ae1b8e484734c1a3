import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { databaseChainId } from '../../clickhouse/chain/identity.js'
import { livePeg, pegAt } from '../../clickhouse/peg/current.js'
import { PEG_WINDOW_SECONDS, windowFigures } from '../../clickhouse/peg/windows.js'
import { stablecoinOrigin } from '../../clickhouse/stablecoins/stablecoins.js'
import { stablecoinStateAt } from '../../clickhouse/stablecoins/states.js'
import { stableSymbol } from '../../clickhouse/stablecoins/texts.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { beforeHistory, lastSeconds, PastEcho } from '../answers/as-of.js'
import { endpoint } from '../answers/endpoint.js'
import { unknownStable } from '../answers/stable.js'
import { type CuratedBriefings, measuredBriefing } from './briefings/briefings.js'
import { RATINGS, rateCentralization, ratePeg, ratePolicy } from './briefings/ratings.js'

const rating = z.enum(RATINGS).meta({ description: 'Derived from measurements; see risk_basis' })
const basis = z.string().meta({ description: 'The measurements behind the rating, in words and figures' })

const Analysis = z.object({
  as_of: PastEcho,
  address: stableAddress,
  symbol: stableSymbol,
  briefing: z
    .object({
      origin_kind: z.enum(['curated', 'measured']).meta({
        description:
          'curated: origin, backing and issuer_context were written by an editor; measured: they are derived from the chain',
      }),
      origin: z.string().meta({ description: 'Where the stable comes from' }),
      backing: z.string().meta({
        description:
          'What backs it; not-stated if that has not been reviewed, or is measured: the chain does not record it',
      }),
      issuer_context: z.string().meta({ description: 'Who issues it, and what is known about them' }),
      risk: z
        .object({ peg_risk: rating, policy_risk: rating, centralization_risk: rating })
        .meta({ description: 'One rating for each kind of risk' }),
      risk_basis: z
        .object({ peg_risk: basis, policy_risk: basis, centralization_risk: basis })
        .meta({ description: 'The figures that each rating follows from' }),
      sources: z
        .array(
          z.object({
            title: z.string().meta({ description: 'What it is called' }),
            url: z.string().meta({ description: 'Where it is' }),
          }),
        )
        .meta({ description: 'Empty when measured' }),
      reviewed_on: z.iso
        .date()
        .nullable()
        .meta({ description: 'When the sources were last reviewed; null if measured' }),
      measured_at: z.iso
        .datetime()
        .nullable()
        .meta({ description: 'When the 7 days of peg_risk end; null before the first sample' }),
    })
    .meta({ description: 'The briefing' }),
  coverage: Coverage,
})

/** In the reference stable. */
const PRICE = '0.05'

/** The window that peg_risk is rated by. */
const RATED = '7d'

/** The briefing of a stable: the `curated` one if there is one, else one derived from the chain. */
export const analysisRoute = (curated: CuratedBriefings) =>
  endpoint({
    path: '/stablecoins/:address/analysis',
    tag: 'stablecoins',
    operationId: 'getAnalysis',
    summary: 'A briefing on one stable: its origin, backing, issuer and risks',
    description: `Costs ${PRICE} of the reference stable per request, nothing with a subscription key.`,
    about: 'moment',
    response: Analysis,
    price: PRICE,
    covers: ({ at, stable, since }) => ({
      families: ['pegs', 'state'],
      stable,
      since,
      ...lastSeconds(at, PEG_WINDOW_SECONDS[RATED]),
      isOfWindows: true,
    }),
    answer: async ({ app, stable, at, asOf, cutoff, ledger, reads }) => {
      const options = { ...reads, minuteSums: app.minuteSums(ledger), samplesOf: app.edgeSamples(ledger) }
      const [chainId, state, origin, peg] = await Promise.all([
        databaseChainId(app.clickhouse, options),
        stablecoinStateAt(app.clickhouse, { stable, at }, options),
        stablecoinOrigin(app.clickhouse, { stable }, options),
        asOf === null
          ? livePeg(app.clickhouse, { stable, as_of: cutoff }, options)
          : pegAt(app.clickhouse, { stable, as_of: asOf }, options),
      ])
      if (!state || !origin) throw asOf === null ? unknownStable(stable) : beforeHistory(at, 'the stable was created')
      const briefing = chainId === null ? null : curated.of(chainId, stable)
      // Nobody had written it by then.
      const written = briefing && new Date(briefing.reviewed_on) <= at ? briefing : null
      const peg_risk = ratePeg(stable, windowFigures(peg.windows[RATED]))
      const policy_risk = ratePolicy(state.policy)
      const centralization_risk = rateCentralization(state.supply, state.policy)
      const texts = written ?? measuredBriefing(state, origin)
      return {
        address: stable,
        symbol: state.symbol,
        briefing: {
          origin_kind: written ? ('curated' as const) : ('measured' as const),
          origin: texts.origin,
          backing: texts.backing,
          issuer_context: texts.issuer_context,
          risk: {
            peg_risk: peg_risk.rating,
            policy_risk: policy_risk.rating,
            centralization_risk: centralization_risk.rating,
          },
          risk_basis: {
            peg_risk: peg_risk.basis,
            policy_risk: policy_risk.basis,
            centralization_risk: centralization_risk.basis,
          },
          sources: written?.sources ?? [],
          reviewed_on: written?.reviewed_on ?? null,
          measured_at: peg.windows_as_of && isoSeconds(peg.windows_as_of),
        },
      }
    },
  })
