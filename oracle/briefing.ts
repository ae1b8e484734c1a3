import type { PegSample } from './facts.js'
import { expectedWindows } from './peg-windows.js'
import { type EconomyFacts, iso, type Raw } from './rows.js'
import { stablecoinsAt } from './stablecoins.js'

/** The reference stable has no price against itself. */
const REFERENCE = '0x20c0000000000000000000000000000000000000'

type Week = NonNullable<ReturnType<typeof expectedWindows>[number]>

function pegRisk(stable: string, week: Week): string {
  const { max_deviation_bps: worst, seconds_outside_10bps: mild, seconds_outside_50bps: severe } = week
  if (stable === REFERENCE || worst === null || mild === null || severe === null) return 'unrated'
  const unquoted = week.unquoted_count / (week.sample_count + week.unquoted_count)
  if (worst > 200 || severe > 3600 || unquoted > 0.5) return 'high'
  return worst <= 50 && mild <= 3600 && unquoted <= 0.05 ? 'low' : 'medium'
}

const POLICY_RISK: Record<string, string> = { allow_all: 'low', blacklist: 'medium' }

const tokens = (raw: string): string => {
  const [whole, decimals] = [raw.padStart(7, '0').slice(0, -6), raw.padStart(7, '0').slice(-6).replace(/0+$/, '')]
  return decimals === '' ? whole : `${whole}.${decimals}`
}

/** The numbers and addresses of a text. */
export const figuresOf = (text: unknown): string[] => `${text}`.match(/0x[0-9a-f]{40}|\d+(\.\d+)?(e[+-]?\d+)?/g) ?? []

/**
 * The briefing of a stable with the state as of `at` and the week up to `measuredAt`: its ratings, and the figures that its
 * texts must contain. The texts themselves are not facts.
 */
export function briefingAt(
  facts: EconomyFacts,
  samples: readonly PegSample[],
  { stable, at, measuredAt }: { stable: string; at: number; measuredAt: number | null },
) {
  const created = facts.stablecoins.find((row: Raw) => row.stable === stable)
  const [state] = stablecoinsAt({ ...facts, stablecoins: created ? [created] : [] }, at)
  const week = expectedWindows(samples, measuredAt ?? 0).find(({ window }) => window === '7d') as Week
  const { supply = null, policy = null } = state ?? {}
  const powers = [supply?.cap === null, policy?.policy_admin !== null].filter(Boolean).length
  const cap = supply?.cap ?? null
  const isMeasured = stable !== REFERENCE && week.max_deviation_bps !== null
  const measured = [
    week.max_deviation_bps,
    week.seconds_outside_10bps,
    week.seconds_outside_50bps,
    week.unquoted_count,
    week.sample_count + week.unquoted_count,
  ]
  return {
    symbol: `${created?.symbol}`,
    measured_at: measuredAt === null ? null : iso(measuredAt),
    risk: {
      peg_risk: pegRisk(stable, week),
      policy_risk: policy === null ? 'unrated' : policy.paused ? 'high' : (POLICY_RISK[`${policy.type}`] ?? 'high'),
      centralization_risk: supply === null || policy === null ? 'unrated' : ['low', 'medium', 'high'][powers],
    },
    figures: {
      peg_risk: isMeasured ? measured.map((figure) => `${figure}`) : [],
      policy_risk: policy === null ? [] : [`${policy.policy_id}`],
      centralization_risk: [
        ...(cap === null ? [] : [tokens(`${cap}`)]),
        ...(policy?.policy_admin ? [`${policy.policy_admin}`] : []),
      ],
      origin: created && created.block_number > 0 ? [`${created.block_number}`] : [],
      issuer_context: supply === null ? [] : [tokens(`${supply.current}`)],
    },
  }
}
