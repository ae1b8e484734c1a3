import { shortText, timeText, tokensOf } from '../../parts/figures.js'
import type { Coverage } from '../parts/block.js'
import { secondsOf } from './breaks.js'

/** GET /stablecoins/{address}/risk. Scores are 0 to 100. */
export type Risk = {
  composite: number
  components: { peg_risk: number; peg_break_risk: number; supply_risk: number; policy_risk: number }
  computed_at: string
  methodology: string
  inputs: {
    quoted_count_24h: number
    unquoted_count_24h: number
    unquoted_share_24h: number | null
    unquoted_since: string | null
    stddev_bps_24h: number | null
    max_deviation_bps_24h: number | null
    has_open_mild: boolean
    has_open_severe: boolean
    mild_events_7d: number
    severe_events_7d: number
    supply: { current: string; cap: string | null } | null
    policy: { type: string; policy_id: string; paused: boolean } | null
    policy_events_7d: number
  }
  extended: {
    score: number
    message: string
    components: {
      name: string
      score: number
      weight: number
      raised_most_by: { event: string; score_change: number } | null
    }[]
  }
  coverage: Coverage
}

/** What each component was computed from, in words. */
export function inputsOf(inputs: Risk['inputs']): Record<keyof Risk['components'], string> {
  const { supply, policy } = inputs
  const open = [inputs.has_open_severe && 'a severe break', inputs.has_open_mild && 'a mild break'].filter(Boolean)
  const { unquoted_share_24h: share, max_deviation_bps_24h: far, stddev_bps_24h: spread } = inputs
  const capShare = supply?.cap && Number(supply.cap) > 0 ? (100 * Number(supply.current)) / Number(supply.cap) : null
  return {
    peg_risk: [
      far === null ? 'in 24 hours: distance not measured' : `in 24 hours: at most ${far.toFixed(1)} bps from the peg`,
      ...(spread === null ? [] : [`standard deviation ${spread.toFixed(1)} bps`]),
      `${inputs.quoted_count_24h} samples with a quote and ${inputs.unquoted_count_24h} without`,
      share === null
        ? 'time without a quote not measured'
        : `${(100 * share).toFixed(1)} % of the time without a quote`,
    ].join(', '),
    peg_break_risk: [
      open.length > 0 ? `${open.join(' and ')} ongoing` : 'no break ongoing',
      ...(inputs.unquoted_since ? [`no quote since ${timeText(secondsOf(inputs.unquoted_since))}`] : []),
      `in 7 days: ${inputs.mild_events_7d} mild, ${inputs.severe_events_7d} severe`,
    ].join(', '),
    supply_risk: supply
      ? `${shortText(tokensOf(supply.current))} tokens, ${capShare === null ? 'without a cap' : `${capShare.toFixed(1)} % of the cap`}`
      : 'the supply was not read',
    policy_risk: policy
      ? `${policy.type.replaceAll('_', ' ')}, policy ${policy.policy_id}, ${policy.paused ? 'paused' : 'not paused'}, changed ${inputs.policy_events_7d} times in 7 days`
      : 'the policy was not read',
  }
}

/** The components, and what they are called. */
export const COMPONENTS = [
  ['peg_risk', 'Peg'],
  ['peg_break_risk', 'Breaks'],
  ['supply_risk', 'Supply'],
  ['policy_risk', 'Policy'],
] as const
