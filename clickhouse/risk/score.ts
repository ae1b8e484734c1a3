import type { PolicyType } from '../stablecoins/newest-states.js'
import { UNCAPPED } from '../supply/supply.js'

/** The name of the formula below. A changed formula gets a new name, and published scores stay as they are. */
export const RISK_METHODOLOGY = 'v3'

/** The points of a component that cannot be measured: what is not known must not make a stable look safe. */
const UNMEASURED = 100

/** How far from 1 a stable without a quote counts as being, in basis points, if it was not farther on the same day. */
const UNQUOTED_BPS = 200

/** From this long without a quote on, in seconds: the minimum of a severe peg break. */
export const LOST_SECONDS = 60

const DAY_SECONDS = 86_400

/**
 * The inputs of a score. `unquoted_share_24h` is the share of the day without a quote, null if that was not measured: no
 * sample held in 24 hours, or not a USD stable. The spread is over time, and null if no price held. `unquoted_seconds` is how long
 * there has been no quote; null if there is one, or that was not measured. The state is null if it was never read.
 */
export type RiskInputs = {
  stddev_bps_24h: number | null
  max_deviation_bps_24h: number | null
  unquoted_share_24h: number | null
  unquoted_seconds: number | null
  has_open_mild: boolean
  has_open_severe: boolean
  mild_events_7d: number
  severe_events_7d: number
  supply_raw: bigint | null
  cap_raw: bigint | null
  paused: boolean | null
  policy_type: PolicyType | null
  policy_events_7d: number
}

/** Scores from 0 to 100, higher is riskier: the components to two decimals, the composite to three. */
export type RiskScore = {
  composite: number
  peg_risk: number
  peg_break_risk: number
  supply_risk: number
  policy_risk: number
}

/** The weights of the components in the composite, in tenths. Their sum is ten. */
export const RISK_WEIGHTS = { peg_risk: 4, peg_break_risk: 3, supply_risk: 2, policy_risk: 1 } as const

/** Hundredths of a point, clipped to 0..100 points. */
const hundredths = (points: number): number => Math.round(Math.min(Math.max(points, 0), 100) * 100)

/** Points as published: clipped to 0..100, to two decimals. */
export const rounded = (points: number): number => hundredths(points) / 100

function pegPoints({ stddev_bps_24h, max_deviation_bps_24h, unquoted_share_24h: u }: RiskInputs): number {
  if (u === null) return UNMEASURED
  const quoted = { sigma: stddev_bps_24h ?? 0, worst: max_deviation_bps_24h ?? 0 }
  const away = Math.max(UNQUOTED_BPS, quoted.worst)
  const sigma = u === 0 ? quoted.sigma : Math.sqrt((1 - u) * quoted.sigma ** 2 + u * away ** 2)
  const worst = quoted.worst + Math.min((u * DAY_SECONDS) / LOST_SECONDS, 1) * (away - quoted.worst)
  return 100 * (1 - Math.exp(-(2 * sigma + worst) / 60))
}

type BreakInputs = Pick<
  RiskInputs,
  'unquoted_seconds' | 'has_open_mild' | 'has_open_severe' | 'mild_events_7d' | 'severe_events_7d'
>

/** The points of peg breaks and of a lost quote, before they are clipped. More of anything never lowers them. */
export function pegBreakPoints(inputs: BreakInputs): number {
  const isLost = inputs.unquoted_seconds !== null && inputs.unquoted_seconds >= LOST_SECONDS
  const open = inputs.has_open_severe || isLost ? 70 : inputs.has_open_mild ? 40 : 0
  return open + 5 * inputs.mild_events_7d + 15 * (inputs.severe_events_7d + (isLost ? 1 : 0))
}

/** The share of the cap that can still be minted, with which the risk to holders grows: 1 without a cap, 0 if nothing can be. */
export function headroomShare(supply: bigint, cap: bigint): number {
  if (cap === UNCAPPED) return 1
  return cap <= supply ? 0 : Number(cap - supply) / Number(cap)
}

function supplyPoints({ supply_raw, cap_raw }: RiskInputs): number {
  if (supply_raw === null || cap_raw === null) return UNMEASURED
  return 100 * headroomShare(supply_raw, cap_raw)
}

/** The more accounts a policy can keep from sending without doing anything, the more: from nobody to everybody. */
const POLICY_POINTS: Record<PolicyType, number> = {
  allow_all: 10,
  blacklist: 30,
  whitelist: 40,
  compound: 50,
  reject_all: 100,
  unknown: UNMEASURED,
}

type PolicyInputs = Pick<RiskInputs, 'paused' | 'policy_type' | 'policy_events_7d'>

/** The points of the transfer policy and its changes, before they are clipped. */
export function policyPoints({ paused, policy_type, policy_events_7d }: PolicyInputs): number {
  const standing = policy_type === null || paused === null ? UNMEASURED : paused ? 100 : POLICY_POINTS[policy_type]
  return standing + 5 * policy_events_7d
}

/**
 * The components, each clipped to 0..100 and rounded to two decimals, halves up:
 *
 * - peg_risk = 100 (1 - exp(-(2 sigma + worst) / 60)), in bps over 24 hours. With s and d of the prices by time, the share u
 *   of the day without a quote, and w = max(200, d): sigma = sqrt((1 - u) s² + u w²), worst = d + k (w - d), where k is u in
 *   minutes of the day, at most 1. So for u = 0 only the price counts, and for u = 1 sigma and worst are 200;
 * - peg_break_risk = 40 for an open mild or 70 for an open severe event, plus 5 per mild and 15 per severe event of the
 *   last 7 days, the open ones included; 60 s and more without a quote are one more open severe event;
 * - supply_risk = the share of the cap that can still be minted, in per cent; 100 without a cap;
 * - policy_risk = 10 allow_all, 30 blacklist, 40 whitelist, 50 compound, 100 reject_all or paused, plus 5 per policy event
 *   of the last 7 days;
 * - a component that was not measured is 100.
 *
 * composite = the sum of the rounded components by their weights, so that three decimals hold it exactly.
 */
export function riskScore(inputs: RiskInputs): RiskScore {
  const components = {
    peg_risk: hundredths(pegPoints(inputs)),
    peg_break_risk: hundredths(pegBreakPoints(inputs)),
    supply_risk: hundredths(supplyPoints(inputs)),
    policy_risk: hundredths(policyPoints(inputs)),
  }
  const names = Object.keys(components) as (keyof typeof components)[]
  const weighted = names.reduce((sum, name) => sum + RISK_WEIGHTS[name] * components[name], 0)
  return {
    composite: weighted / 1000,
    peg_risk: components.peg_risk / 100,
    peg_break_risk: components.peg_break_risk / 100,
    supply_risk: components.supply_risk / 100,
    policy_risk: components.policy_risk / 100,
  }
}
