import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import { BREAKS_SINCE_SETTINGS, breaksSince } from '../peg/excursions.js'
import { addSums, MINUTE_SUMS, type PegSums, SUM_COLUMNS, selected } from '../peg/sums.js'
import { newestStates } from '../stablecoins/newest-states.js'
import { stablesInUse } from '../stablecoins/stablecoins.js'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { integerText } from '../store/values.js'

const count = z.int().nonnegative()

/** The sums over the samples of the 24 hours up to `at`, which are whole minutes, of every stable with a sample in them. */
const sumsOfDay = defineQuery({
  name: 'risk_peg_sums',
  params: z.object({ at: z.date() }),
  row: z.object({ stable: z.string(), ...SUM_COLUMNS, unquoted_minutes_ppm: count }),
  sql: `
    SELECT stable, ${selected(MINUTE_SUMS)},
           toUInt32(ceil(sum(intDiv(1000000000000 * minutes.unquoted_count, minutes.quoted_count + minutes.unquoted_count)) / count() / 1000000)) AS unquoted_minutes_ppm
    FROM
    (
        SELECT stable, ${selected(MINUTE_SUMS)}
        FROM peg_minutes WHERE minute_end > {at: DateTime} - ${DAY_SECONDS} AND minute_end <= {at: DateTime}
        GROUP BY stable, minute_end
    ) AS minutes
    GROUP BY stable`,
})

const NO_SAMPLES: PegSums & { unquoted_minutes_ppm: number | null } = { ...addSums([]), unquoted_minutes_ppm: null }

/** How many peg-break events were in progress at any time in the week up to `at`, and whether one still is, by stable. */
const breaksOfWeek = defineQuery({
  name: 'risk_breaks',
  params: z.object({ at: z.date() }),
  row: z.object({
    stable: z.string(),
    has_open_mild: z.boolean(),
    has_open_severe: z.boolean(),
    mild_events_7d: count,
    severe_events_7d: count,
  }),
  sql: `
    SELECT stable, (countIf(severity = 'mild' AND is_open) > 0)::Bool AS has_open_mild,
           (countIf(severity = 'severe' AND is_open) > 0)::Bool AS has_open_severe,
           toUInt32(countIf(severity = 'mild')) AS mild_events_7d, toUInt32(countIf(severity = 'severe')) AS severe_events_7d
    FROM
    (
        SELECT stable, severity, ended_at IS NULL OR ended_at > {at: DateTime} AS is_open
        FROM (${breaksSince(`{at: DateTime} - ${WEEK_SECONDS}`, "'published'")})
        WHERE confirmed_at <= {at: DateTime} AND (ended_at IS NULL OR ended_at > {at: DateTime} - ${WEEK_SECONDS})
    )
    GROUP BY stable
    ${BREAKS_SINCE_SETTINGS}`,
})

const NO_BREAKS = { has_open_mild: false, has_open_severe: false, mild_events_7d: 0, severe_events_7d: 0 }

const PolicyParams = z.object({ at: z.date(), policy_ids: z.array(z.coerce.bigint()) })

/** The parts of those of these policies that are compound ones by `at`. */
const partsOfPolicies = defineQuery({
  name: 'risk_policy_parts',
  params: PolicyParams,
  row: z.object({ policy_id: integerText, parts: z.array(integerText) }),
  sql: `
    SELECT assumeNotNull(policy_id) AS policy_id,
           arrayMap(part -> assumeNotNull(part), [sender_policy_id, recipient_policy_id, mint_recipient_policy_id]) AS parts
    FROM policy_events
    WHERE kind = 'compound_created' AND block_time <= {at: DateTime} AND policy_id IN {policy_ids: Array(UInt64)}`,
})

/** How often each stable adopted a policy in the week up to `at`, and with no stable, how often each of these policies changed. */
const policyChanges = defineQuery({
  name: 'risk_policy_changes',
  params: PolicyParams,
  row: z.object({ adopted_by: z.string().nullable(), changed: integerText.nullable(), events: count }),
  sql: `
    SELECT stable AS adopted_by, if(kind = 'token_policy', NULL, policy_id) AS changed, toUInt32(count()) AS events
    FROM policy_events
    WHERE kind IN ('token_policy', 'created', 'compound_created', 'admin', 'whitelist', 'blacklist')
      AND block_time > {at: DateTime} - ${WEEK_SECONDS} AND block_time <= {at: DateTime}
      AND (kind = 'token_policy' OR policy_id IN {policy_ids: Array(UInt64)})
    GROUP BY adopted_by, changed`,
})

type State = ReturnType<Awaited<ReturnType<typeof newestStates>>>

/** A function of a stable and its state at `at` that says how often its policy changed in the week before. */
async function policyChangesOfWeek(
  clickhouse: ClickHouseClient,
  { at, states }: { at: Date; states: readonly State[] },
): Promise<(stable: string, state: State) => number> {
  const policyIds = [...new Set(states.flatMap((state) => state?.policy_id ?? []))]
  const parts = await inParts(policyIds, (policy_ids) => partsOfPolicies(clickhouse, { at, policy_ids }))
  const partsOf = new Map(parts.map(({ policy_id, parts }) => [policy_id, parts]))
  const idsWithParts = [...new Set([...policyIds, ...[...partsOf.values()].flat()])]
  const [adoptions, changes] = [new Map<string, number>(), new Map<string, number>()]
  // Adoptions are in every part.
  for (const { adopted_by, changed, events } of await inParts(
    idsWithParts.length > 0 ? idsWithParts : ['0'],
    (policy_ids) => policyChanges(clickhouse, { at, policy_ids }),
  )) {
    if (changed !== null) changes.set(changed, events)
    else if (adopted_by !== null) adoptions.set(adopted_by, events)
  }
  return (stable, state) => {
    const policies = new Set(state ? [state.policy_id, ...(partsOf.get(state.policy_id) ?? [])] : [])
    return [...policies].reduce((sum, id) => sum + (changes.get(id) ?? 0), adoptions.get(stable) ?? 0)
  }
}

const byStable = <Row extends { stable: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.stable, row]))

/**
 * The inputs of the risk score of every stable that is in use at `at`, a whole minute, from the facts and peg-break events
 * up to then, ordered by address:
 *
 * - its currency and where it was created, in unix seconds, the sums over the samples of the last 24 hours, which are whole minutes, and the mean over the minutes
 *   with a sample of their share without a quote, in millionths, rounded up;
 * - the peg-break events that were in progress at any time in the last 7 days, and whether one still is;
 * - the newest state, null if none was read;
 * - how often in the last 7 days the stable adopted a policy, or the policy that it has at `at` changed: its creation,
 *   its administrator, its list, and for a compound policy those of its parts.
 */
export async function riskInputs(clickhouse: ClickHouseClient, { at }: { at: Date }) {
  const [stables, sums, breaks] = await Promise.all([
    stablesInUse(clickhouse, { at }),
    sumsOfDay(clickhouse, { at }).then(byStable),
    breaksOfWeek(clickhouse, { at }).then(byStable),
  ])
  const stateOf = await newestStates(clickhouse, { stables: stables.map(({ stable }) => stable), at })
  const changesOf = await policyChangesOfWeek(clickhouse, { at, states: stables.map(({ stable }) => stateOf(stable)) })
  return stables.map(({ stable, ...created }) => {
    const state = stateOf(stable)
    return {
      ...NO_SAMPLES,
      ...sums.get(stable),
      ...NO_BREAKS,
      ...breaks.get(stable),
      ...created,
      stable,
      supply_raw: state && BigInt(state.supply_raw),
      cap_raw: state && BigInt(state.cap_raw),
      paused: state?.paused ?? null,
      policy_id: state?.policy_id ?? null,
      policy_type: state?.policy_type ?? null,
      state_block_number: state?.state_block_number ?? null,
      policy_events_7d: changesOf(stable, state),
    }
  })
}
export type RiskInputsRow = Awaited<ReturnType<typeof riskInputs>>[number]

/**
 * The share of the 24 hours for which a stable had no quote, to six decimals: that of the samples, rounded up, or of the
 * minutes, whichever is larger, so that it makes no difference how many blocks a minute has. Null if it was not measured:
 * without a sample, and for a stable that is not in USD and so has no peg.
 */
export function unquotedShare({
  currency,
  quoted_count,
  unquoted_count,
  unquoted_minutes_ppm,
}: Pick<RiskInputsRow, 'currency' | 'quoted_count' | 'unquoted_count' | 'unquoted_minutes_ppm'>): number | null {
  const samples = quoted_count + unquoted_count
  if (currency !== 'USD' || samples === 0n) return null
  const ofSamples = Number((unquoted_count * 1_000_000n + samples - 1n) / samples)
  return Math.max(ofSamples, unquoted_minutes_ppm ?? 0) / 1e6
}
