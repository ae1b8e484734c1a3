import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { type Moves, movesOf } from '../../clickhouse/risk/extended/moves.js'
import {
  COMPONENT_NAMES,
  type ComponentName,
  EXTENDED_RISK_VERSION,
  weightsOf,
} from '../../clickhouse/risk/extended/score.js'
import { type ExtendedRow, extendedAt } from '../../clickhouse/risk/extended/snapshots.js'
import { PlumblineError } from '../../process/errors.js'
import { isoSeconds } from '../../process/instants.js'

const score = z.number().min(0).max(100)

const MoveShape = z
  .object({
    input: z.string().meta({ description: 'The input that changes' }),
    event: z.string().meta({ description: 'What happens, in words' }),
    score: score.meta({ description: 'The component after it' }),
    score_change: z.number().meta({ description: 'By how much the extended score would change' }),
  })
  .nullable()

const Component = z.object({
  name: z.enum(COMPONENT_NAMES).meta({ description: 'Name of the component' }),
  score: score.meta({ description: '0 to 100, higher is riskier' }),
  weight: score.max(1).meta({
    description: 'Share in the score, which is the sum of weight × score over the components, to three decimals',
  }),
  inputs: z
    .array(
      z.object({
        name: z.string().meta({ description: 'Name of the input, with its unit' }),
        value: z.union([z.number(), z.boolean(), z.string()]).nullable().meta({
          description: 'null if it is not known; it then counts as the worst',
        }),
      }),
    )
    .meta({ description: 'What it is computed from' }),
  raised_most_by: MoveShape.meta({
    description: 'The single event that would raise it most; null if none would',
  }),
  lowered_most_by: MoveShape.meta({
    description: 'The single event that would lower it most; null if none would',
  }),
})

/** The extended score in an answer about risk. */
export const ExtendedRisk = z.object({
  score: score.meta({ description: 'Higher is riskier, as composite' }),
  version: z.string().meta({ description: 'Version of the formula' }),
  is_complete: z.boolean().meta({ description: 'Whether every input of its components is known' }),
  missing: z.array(z.string()).meta({ description: 'The inputs that are not known; each counts as the worst' }),
  left_out: z.array(z.enum(COMPONENT_NAMES)).meta({
    description: 'The components that cannot be measured here; the others share their weight',
  }),
  components: z.array(Component).meta({ description: 'The components of the score' }),
  message: z.string().meta({ description: 'What the score rests on, in words' }),
})

const INPUTS = {
  peg: ['rms_bps_24h', 'shortfall_bps_24h'],
  breaks: ['has_open_mild', 'has_open_severe', 'unquoted_seconds', 'mild_events_7d', 'severe_events_7d'],
  liquidity: ['exit_share'],
  concentration: ['hhi'],
  issuance: ['headroom_share'],
  policy: ['paused', 'policy_type', 'policy_events_7d'],
} as const satisfies Record<ComponentName, ReadonlyArray<keyof ExtendedRow['inputs']>>

/** The versions of the formula without a shortfall, which stored scores keep. */
const WITHOUT_SHORTFALL = ['e1', 'e2']

const inputsOf = (name: ComponentName, { inputs, sizes, version }: ExtendedRow) => [
  ...INPUTS[name]
    .filter((input) => input !== 'shortfall_bps_24h' || !WITHOUT_SHORTFALL.includes(version))
    .map((input) => ({ name: input, value: inputs[input] })),
  ...(name === 'liquidity'
    ? sizes.map((size, i) => ({ name: `exit_cost_bps_${size}`, value: inputs.exit_cost_bps[i] ?? null }))
    : []),
]

const WHY_LEFT_OUT: Partial<Record<ComponentName, string>> = {
  peg: 'the price of the reference stable is 1 by definition',
  concentration: 'transfers are not read (TRACK_HOLDERS)',
}

function messageOf(missing: readonly string[], left_out: readonly ComponentName[]): string {
  const completeness =
    missing.length === 0 ? 'Every input is known.' : `Not known, and counted as the worst: ${missing.join(', ')}.`
  if (left_out.length === 0) return completeness
  const reasons = left_out.flatMap((name) => WHY_LEFT_OUT[name] ?? [])
  return `${completeness} Left out: ${left_out.join(', ')}, because ${reasons.join(', and ')}.`
}

const NO_MOVES: Moves = { raised_most_by: null, lowered_most_by: null }

function shown(row: ExtendedRow): z.input<typeof ExtendedRisk> {
  const { components, left_out, inputs, sizes } = row
  const weights = weightsOf(left_out)
  // By another version of the formula they would contradict the score.
  const moves = row.version === EXTENDED_RISK_VERSION ? movesOf(inputs, sizes, left_out) : null
  const shownComponents = COMPONENT_NAMES.flatMap((name) => {
    const points = components[name]
    if (points === null) return []
    const component = { name, score: points, weight: weights.get(name) ?? 0, inputs: inputsOf(name, row) }
    return [{ ...component, ...(moves?.get(name) ?? NO_MOVES) }]
  })
  const missing = shownComponents.flatMap((component) =>
    component.inputs.filter(({ value }) => value === null).map(({ name }) => name),
  )
  return {
    score: row.score,
    version: row.version,
    is_complete: missing.length === 0,
    missing,
    left_out,
    components: shownComponents,
    message: messageOf(missing, left_out),
  }
}

/** A score is stored without its extended score, which is written first: a replica has not fetched that yet. */
class NoExtendedScoreError extends PlumblineError {
  constructor(slot_at: Date) {
    super(`the extended score of ${isoSeconds(slot_at)} cannot be read yet`, { retryable: true })
  }
}

/**
 * The extended score of a stable's snapshot at `slot_at`, as it was known at `known_at`. Throws a retryable error if it cannot be
 * read yet.
 */
export async function extendedRiskOf(
  clickhouse: ClickHouseClient,
  params: { stable: string; slot_at: Date; known_at: Date | null },
  options: { signal: AbortSignal },
): Promise<z.input<typeof ExtendedRisk>> {
  const row = await extendedAt(clickhouse, params, options)
  if (!row) throw new NoExtendedScoreError(params.slot_at)
  return shown(row)
}
