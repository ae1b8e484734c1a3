import type { PolicyType } from '../../stablecoins/newest-states.js'
import { LOST_SECONDS, pegBreakPoints, policyPoints, rounded } from '../score.js'

/** The name of the formula below. A changed formula gets a new name, and published scores stay as they are. */
export const EXTENDED_RISK_VERSION = 'e3'

/**
 * How far from 1 a sample without a quote counts as being, in basis points: farther than the exchange can quote, whose eight
 * books in a row end at 1,717. So losing a quote is worse than any quote.
 */
export const UNQUOTED_BPS = 2000

/** The cost of selling what nobody buys, in basis points: all of it. */
export const UNSELLABLE_BPS = 10_000

/** The Herfindahl-Hirschman index of a single holder, and of nobody. */
export const MOST_HHI = 10_000

/** The scale of peg points: at this sum of root mean square and shortfall, in basis points, a stable has 63. */
const PEG_SCALE_BPS = 60

/** From this cost on, in basis points, selling a size has 100 points. */
const MOST_COST_BPS = 100

/** The exit shares that have 0 and 100 points. */
const [WIDE_EXIT, NO_EXIT] = [0.1, 0.0001]

/**
 * The inputs of an extended score; null is not known. `exit_cost_bps` are the costs of selling the sampled sizes that count,
 * smallest first.
 */
export type ExtendedInputs = {
  rms_bps_24h: number | null
  shortfall_bps_24h: number | null
  has_open_mild: boolean | null
  has_open_severe: boolean | null
  unquoted_seconds: number | null
  mild_events_7d: number | null
  severe_events_7d: number | null
  exit_share: number | null
  exit_cost_bps: readonly (number | null)[]
  hhi: number | null
  headroom_share: number | null
  paused: boolean | null
  policy_type: PolicyType | null
  policy_events_7d: number | null
}

type InputName = Exclude<keyof ExtendedInputs, 'exit_cost_bps'>
type KnownInputs = { [Name in InputName]: NonNullable<ExtendedInputs[Name]> } & { exit_cost_bps: readonly number[] }

/** What an input counts as that is not known: the value with the most points. */
const WORST: Omit<KnownInputs, 'exit_cost_bps'> = {
  rms_bps_24h: UNQUOTED_BPS,
  shortfall_bps_24h: UNQUOTED_BPS,
  has_open_mild: true,
  has_open_severe: true,
  unquoted_seconds: LOST_SECONDS,
  mild_events_7d: 20,
  severe_events_7d: 20,
  exit_share: 0,
  hhi: MOST_HHI,
  headroom_share: 1,
  paused: true,
  policy_type: 'reject_all',
  policy_events_7d: 20,
}

function withWorst(inputs: ExtendedInputs): KnownInputs {
  const knownInputs = Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== null))
  return { ...WORST, ...knownInputs, exit_cost_bps: inputs.exit_cost_bps.map((cost) => cost ?? UNSELLABLE_BPS) }
}

const within01 = (share: number): number => Math.min(Math.max(share, 0), 1)

/** 0 at `WIDE_EXIT` and more, 100 at `NO_EXIT` and less, and in between by its logarithm. */
const sharePoints = (share: number): number =>
  100 * within01(Math.log10(WIDE_EXIT / Math.max(share, NO_EXIT)) / Math.log10(WIDE_EXIT / NO_EXIT))

/** The mean over the sizes: as they grow tenfold each, the mean over the logarithm of the size. */
const costPoints = (costs: readonly number[]): number =>
  (100 * costs.reduce((sum, cost) => sum + within01(cost / MOST_COST_BPS), 0)) / costs.length

/** The components with their weights, in per cent, and their points before they are clipped and rounded. */
const COMPONENTS = {
  peg: {
    weight: 25,
    points: ({ rms_bps_24h, shortfall_bps_24h }) =>
      100 * (1 - Math.exp(-(rms_bps_24h + shortfall_bps_24h) / PEG_SCALE_BPS)),
  },
  breaks: { weight: 20, points: pegBreakPoints },
  liquidity: {
    weight: 25,
    points: ({ exit_share, exit_cost_bps }) => (sharePoints(exit_share) + costPoints(exit_cost_bps)) / 2,
  },
  concentration: { weight: 10, points: ({ hhi }) => Math.sqrt(hhi) },
  issuance: { weight: 10, points: ({ headroom_share }) => 100 * headroom_share },
  policy: { weight: 10, points: policyPoints },
} as const satisfies Record<string, { weight: number; points: (knownInputs: KnownInputs) => number }>

export type ComponentName = keyof typeof COMPONENTS
export const COMPONENT_NAMES = Object.keys(COMPONENTS) as [ComponentName, ...ComponentName[]]

/** The points of each component that is part of the score, 0 to 100; null for the others. Higher is riskier. */
type ComponentScores = Record<ComponentName, number | null>

export type ExtendedScore = { score: number; components: ComponentScores }

/**
 * Extended risk, version e3. Each component is clipped to 0..100 and rounded to two decimals, halves up:
 *
 * - peg = 100 (1 - exp(-(rms + shortfall) / 60)), of the root mean square distance from 1 of one token in 24 hours, and of how much
 *   less than 1 a thousand sold for in the worst 2.5 % of them, both by time, where what has no quote is 2,000 bps away;
 * - breaks = the peg_break_risk of the composite;
 * - liquidity = half by the share of the supply that can be sold at 50 bps: 0 from 10 % on, 100 up to 0.01 %, by the logarithm
 *   in between; half by the mean over the sampled sizes of the cost of selling them, 100 from 100 bps on;
 * - concentration = the root of the Herfindahl-Hirschman index of the holders;
 * - issuance = the share of the cap that can still be minted, in per cent; 100 without a cap;
 * - policy = the policy_risk of the composite.
 *
 * An input that is not known counts as its worst value. The score is the mean of the components, weighted by 25, 20, 25, 10, 10
 * and 10, without those in `left_out`, to three decimals. No component falls when an input gets worse, and neither does the score.
 */
export function extendedScore(inputs: ExtendedInputs, left_out: readonly ComponentName[]): ExtendedScore {
  const knownInputs = withWorst(inputs)
  const components = Object.fromEntries(
    COMPONENT_NAMES.map((name) => [
      name,
      left_out.includes(name) ? null : rounded(COMPONENTS[name].points(knownInputs)),
    ]),
  ) as ComponentScores
  const counted = COMPONENT_NAMES.flatMap((name) => {
    const points = components[name]
    return points === null ? [] : [{ weight: COMPONENTS[name].weight, points: Math.round(points * 100) }]
  })
  const weights = counted.reduce((sum, { weight }) => sum + weight, 0)
  const sum = counted.reduce((total, { weight, points }) => total + weight * points, 0)
  return { score: Math.round((10 * sum) / weights) / 1000, components }
}

/** The share of each component in a score without those that are left out. */
export function weightsOf(left_out: readonly ComponentName[]): ReadonlyMap<ComponentName, number> {
  const counted = COMPONENT_NAMES.filter((name) => !left_out.includes(name))
  const sum = counted.reduce((total, name) => total + COMPONENTS[name].weight, 0)
  return new Map(counted.map((name) => [name, COMPONENTS[name].weight / sum]))
}
