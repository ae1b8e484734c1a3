import type { PolicyType } from '../stablecoins/states.js'
import { UNCAPPED } from '../supply/supply.js'

/** The name of the formula below. A changed formula gets a new name; scores of older formulas stay as they were. */
export const RISK_METHODOLOGY = 'v1'

/** The points of a component that cannot be measured: neither safe nor broken. */
const UNMEASURED = 20

/**
 * The inputs of a score. Null means not measured: no price in the last 24 hours, or the state of the stable was never
 * read.
 */
export type RiskInputs = {
  stddev_bps_24h: number | null
  max_deviation_bps_24h: number | null
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

/** Hundredths of a point, clipped to 0..100 points. */
const hundredths = (points: number): number => Math.round(Math.min(Math.max(points, 0), 100) * 100)

function pegPoints({ stddev_bps_24h: sigma, max_deviation_bps_24h: worst }: RiskInputs): number {
  if (sigma === null || worst === null) return UNMEASURED
  return 100 * (1 - Math.exp(-(2 * sigma + worst) / 60))
}

function pegBreakPoints({ has_open_mild, has_open_severe, mild_events_7d, severe_events_7d }: RiskInputs): number {
  const open = has_open_severe ? 70 : has_open_mild ? 40 : 0
  return open + 5 * mild_events_7d + 15 * severe_events_7d
}

function supplyPoints({ supply_raw, cap_raw }: RiskInputs): number {
  if (supply_raw === null || cap_raw === null) return UNMEASURED
  if (cap_raw === UNCAPPED) return 15
  // With a cap of 0 nothing can be minted: there is no headroom, whatever the supply.
  if (cap_raw === 0n) return 100
  return 100 * (Number(supply_raw) / Number(cap_raw)) ** 2
}

const POLICY_POINTS: Record<PolicyType, number> = {
  allow_all: 10,
  whitelist: 30,
  compound: 40,
  blacklist: 50,
  reject_all: 100,
}

function policyPoints({ paused, policy_type, policy_events_7d }: RiskInputs): number {
  const standing = policy_type === null || paused === null ? UNMEASURED : paused ? 100 : POLICY_POINTS[policy_type]
  return standing + 5 * policy_events_7d
}

/**
 * Risk methodology v1. The components, each clipped to 0..100 and rounded to two decimals, halves up:
 *
 * - peg_risk = 100 (1 - exp(-(2 sigma + worst) / 60)), sigma and worst in bps over 24 hours; 20 when unmeasured;
 * - peg_break_risk = 40 for an open mild or 70 for an open severe event, plus 5 per mild and 15 per severe event of the
 *   last 7 days, the open ones included;
 * - supply_risk = 15 when uncapped, else 100 (supply / cap)²; 20 when unmeasured;
 * - policy_risk = 10 allow_all, 30 whitelist, 40 compound, 50 blacklist, 100 reject_all or paused, 20 when unmeasured, plus
 *   5 per policy event of the last 7 days.
 *
 * composite = 0.4 peg + 0.3 peg break + 0.2 supply + 0.1 policy, of the rounded components, so that three decimals hold
 * it exactly.
 */
export function riskScore(inputs: RiskInputs): RiskScore {
  const peg = hundredths(pegPoints(inputs))
  const pegBreak = hundredths(pegBreakPoints(inputs))
  const supply = hundredths(supplyPoints(inputs))
  const policy = hundredths(policyPoints(inputs))
  return {
    composite: (4 * peg + 3 * pegBreak + 2 * supply + policy) / 1000,
    peg_risk: peg / 100,
    peg_break_risk: pegBreak / 100,
    supply_risk: supply / 100,
    policy_risk: policy / 100,
  }
}
