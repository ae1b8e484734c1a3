import { LOST_SECONDS } from '../score.js'
import {
  COMPONENT_NAMES,
  type ComponentName,
  type ExtendedInputs,
  extendedScore,
  MOST_HHI,
  UNQUOTED_BPS,
  UNSELLABLE_BPS,
} from './score.js'

/** A change of one input: what happens, in words, and the inputs after it. */
type Change = { input: string; event: string; after: ExtendedInputs }

/** What a component would be after a change, and by how much the score would change. */
type Move = { input: string; event: string; score: number; score_change: number }

/** An hour of the 24 without a quote: the mean of squares over both. */
const withUnquotedHour = (rms: number): number => Math.sqrt((23 * rms ** 2 + UNQUOTED_BPS ** 2) / 24)

/** One more than the number, of which nothing is known as of none. */
const oneMore = (count: number | null): number => (count ?? 0) + 1

type Changes = (inputs: ExtendedInputs, sizes: readonly number[]) => Change[]

const set = (inputs: ExtendedInputs, input: keyof ExtendedInputs, value: unknown, event: string): Change => ({
  input,
  event,
  after: { ...inputs, [input]: value },
})

const setCosts = (inputs: ExtendedInputs, sizes: readonly number[], cost: number, event: string): Change[] =>
  inputs.exit_cost_bps.map((_, i) => ({
    input: `exit_cost_bps_${sizes[i]}`,
    event: event.replace('SIZE', `${sizes[i]}`),
    after: { ...inputs, exit_cost_bps: inputs.exit_cost_bps.with(i, cost) },
  }))

/** What may get worse in each component: a single event each. */
const WORSE: Record<ComponentName, Changes> = {
  peg: (inputs) => [
    set(
      inputs,
      'rms_bps_24h',
      withUnquotedHour(inputs.rms_bps_24h ?? UNQUOTED_BPS),
      'one of the 24 hours has no quote',
    ),
    set(inputs, 'shortfall_bps_24h', UNQUOTED_BPS, 'nobody buys 1000 tokens for one of the 24 hours'),
  ],
  breaks: (inputs) => [
    {
      input: 'has_open_severe',
      event: 'a severe break begins',
      after: { ...inputs, has_open_severe: true, severe_events_7d: oneMore(inputs.severe_events_7d) },
    },
    {
      input: 'has_open_mild',
      event: 'a mild break begins',
      after: { ...inputs, has_open_mild: true, mild_events_7d: oneMore(inputs.mild_events_7d) },
    },
    set(inputs, 'unquoted_seconds', LOST_SECONDS, 'the quote is lost for a minute'),
  ],
  liquidity: (inputs, sizes) => [
    set(inputs, 'exit_share', 0, 'nobody buys any of the sampled sizes within 50 bps'),
    ...setCosts(inputs, sizes, UNSELLABLE_BPS, 'nobody buys SIZE tokens'),
  ],
  concentration: (inputs) => [set(inputs, 'hhi', MOST_HHI, 'one account holds everything')],
  issuance: (inputs) => [set(inputs, 'headroom_share', 1, 'the cap is removed')],
  policy: (inputs) => [
    set(inputs, 'paused', true, 'transfers are paused'),
    set(inputs, 'policy_type', 'reject_all', 'the policy lets nobody send'),
    set(inputs, 'policy_events_7d', oneMore(inputs.policy_events_7d), 'the policy is changed once more'),
  ],
}

/** What may get better. */
const BETTER: Record<ComponentName, Changes> = {
  peg: (inputs) => [
    set(inputs, 'rms_bps_24h', 0, 'the price is 1 for 24 hours'),
    set(inputs, 'shortfall_bps_24h', 0, '1000 tokens can be sold at 1 for 24 hours'),
  ],
  breaks: (inputs) => [
    set(inputs, 'has_open_severe', false, 'the severe break ends'),
    set(inputs, 'has_open_mild', false, 'the mild break ends'),
    set(inputs, 'unquoted_seconds', 0, 'the quote comes back'),
    set(inputs, 'severe_events_7d', 0, 'the severe breaks are older than seven days'),
    set(inputs, 'mild_events_7d', 0, 'the mild breaks are older than seven days'),
  ],
  liquidity: (inputs, sizes) => [
    set(inputs, 'exit_share', 0.1, 'a tenth of the supply can be sold within 50 bps'),
    ...setCosts(inputs, sizes, 0, 'SIZE tokens can be sold at 1'),
  ],
  concentration: (inputs) => [set(inputs, 'hhi', 100, 'a hundred accounts hold equal parts')],
  issuance: (inputs) => [set(inputs, 'headroom_share', 0, 'the cap is lowered to the supply')],
  policy: (inputs) => [
    set(inputs, 'policy_type', 'allow_all', 'the policy lets everybody send'),
    set(inputs, 'paused', false, 'transfers are resumed'),
    set(inputs, 'policy_events_7d', 0, 'the policy is not changed for seven days'),
  ],
}

export type Moves = { raised_most_by: Move | null; lowered_most_by: Move | null }

/**
 * The single change of an input that raises, and the one that lowers, each component most; null where none does. Of equal
 * ones the first of the list. `sizes` are those of `exit_cost_bps`, in tokens.
 */
export function movesOf(
  inputs: ExtendedInputs,
  sizes: readonly number[],
  left_out: readonly ComponentName[],
): ReadonlyMap<ComponentName, Moves> {
  const now = extendedScore(inputs, left_out)
  const moveOf = (name: ComponentName, { input, event, after }: Change): Move => {
    const then = extendedScore(after, left_out)
    return {
      input,
      event,
      score: then.components[name] ?? 0,
      score_change: Math.round(1000 * (then.score - now.score)) / 1000,
    }
  }
  const mostOf = (name: ComponentName, changes: readonly Change[], sign: 1 | -1): Move | null => {
    const moves = changes.map((change) => moveOf(name, change)).filter(({ score_change }) => sign * score_change > 0)
    return moves.reduce<Move | null>(
      (strongest, move) =>
        strongest === null || sign * move.score_change > sign * strongest.score_change ? move : strongest,
      null,
    )
  }
  return new Map(
    COMPONENT_NAMES.filter((name) => now.components[name] !== null).map((name) => [
      name,
      {
        raised_most_by: mostOf(name, WORSE[name](inputs, sizes), 1),
        lowered_most_by: mostOf(name, BETTER[name](inputs, sizes), -1),
      },
    ]),
  )
}
