import { z } from 'zod'
import { KnownAt, NEWEST_REVISION, publisher, SHOWN } from '../../jobs/publications.js'
import { PolicyType } from '../../stablecoins/newest-states.js'
import { defineOptionalRow } from '../../store/define-query.js'
import { COMPONENT_NAMES, type ComponentName, type ExtendedInputs, type ExtendedScore } from './score.js'

/** A stable's extended score at a slot with its inputs (columns: clickhouse/schema). Decimals as text, `slot_at` in seconds. */
type ExtendedSnapshot = ReturnType<typeof snapshotOf>

/** Publishes the extended scores of a slot. */
export const publishExtended = publisher<ExtendedSnapshot>('extended_snapshots')

const fixed = (value: number | null, decimals: number): string | null => value?.toFixed(decimals) ?? null

/** The row of a score. */
export function snapshotOf(
  about: { stable: string; slot_at: number; revision: number; version: string },
  { score, components }: ExtendedScore,
  { inputs, sizes }: { inputs: ExtendedInputs; sizes: readonly number[] },
) {
  return {
    ...about,
    score: score.toFixed(3),
    peg: fixed(components.peg, 2),
    breaks: fixed(components.breaks, 2),
    liquidity: fixed(components.liquidity, 2),
    concentration: fixed(components.concentration, 2),
    issuance: fixed(components.issuance, 2),
    policy: fixed(components.policy, 2),
    ...inputs,
    rms_bps_24h: fixed(inputs.rms_bps_24h, 4),
    shortfall_bps_24h: fixed(inputs.shortfall_bps_24h, 4),
    exit_share: fixed(inputs.exit_share, 8),
    size_tokens: sizes,
    exit_cost_bps: inputs.exit_cost_bps.map((cost) => fixed(cost, 4)),
    hhi: fixed(inputs.hhi, 4),
    headroom_share: fixed(inputs.headroom_share, 6),
  }
}

const decimal = z.string().transform(Number)
const figure = decimal.nullable()
const count = z.int().nullable()
const points = figure

const ExtendedRow = z
  .object({
    version: z.string(),
    score: decimal,
    peg: points,
    breaks: points,
    liquidity: points,
    concentration: points,
    issuance: points,
    policy: points,
    rms_bps_24h: figure,
    shortfall_bps_24h: figure,
    has_open_mild: z.boolean().nullable(),
    has_open_severe: z.boolean().nullable(),
    unquoted_seconds: count,
    mild_events_7d: count,
    severe_events_7d: count,
    exit_share: figure,
    size_tokens: z.array(z.int()),
    exit_cost_bps: z.array(figure),
    hhi: figure,
    headroom_share: figure,
    paused: z.boolean().nullable(),
    policy_type: PolicyType.nullable(),
    policy_events_7d: count,
  })
  .transform(({ version, score, size_tokens, ...row }) => {
    const { peg, breaks, liquidity, concentration, issuance, policy, ...inputs } = row
    const components = { peg, breaks, liquidity, concentration, issuance, policy }
    const left_out: ComponentName[] = COMPONENT_NAMES.filter((name) => components[name] === null)
    return { version, score, components, left_out, sizes: size_tokens, inputs: inputs satisfies ExtendedInputs }
  })
export type ExtendedRow = z.output<typeof ExtendedRow>

/** A stable's extended score at a slot, of those that were shown at `known_at`; null if there was none. */
export const extendedAt = defineOptionalRow({
  name: 'extended_risk_at',
  params: z.object({ stable: z.string(), slot_at: z.date(), known_at: KnownAt }),
  row: ExtendedRow,
  sql: `
    SELECT * EXCEPT (stable, slot_at, revision, published_at, figures_hash)
    FROM extended_snapshots
    WHERE stable = {stable: String} AND slot_at = {slot_at: DateTime} AND ${SHOWN}
    ORDER BY ${NEWEST_REVISION} LIMIT 1`,
})
