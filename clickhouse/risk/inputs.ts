import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import { BREAKS_SINCE_SETTINGS, breaksSince } from '../peg/excursions.js'
import { HELD_PRICE, HeldSums, heldSamples, heldSums, heldWithin } from '../peg/held.js'
import { MAX_SAMPLE_SECONDS } from '../peg/price.js'
import { newestStates } from '../stablecoins/newest-states.js'
import { stablesInUse } from '../stablecoins/stablecoins.js'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { integerText } from '../store/values.js'

const count = z.int().nonnegative()

const AT = '{at: DateTime}'
const HELD = heldWithin(AT, DAY_SECONDS)

/**
 * Of every stable with a sample in the 24 hours up to `at`: the sums over the time in which its samples held, the largest
 * distance from 1 of a price that held, in millionths, and how many samples there are.
 */
const pegsOfDay = defineQuery({
  name: 'risk_pegs',
  params: z.object({ at: z.date() }),
  row: z.object({
    stable: z.string(),
    held: HeldSums,
    largest_distance: integerText.transform(Number).nullable(),
    quoted_count: count,
    unquoted_count: count,
  }),
  sql: `
    SELECT stable, ${heldSums(HELD)} AS held, maxOrNullIf(abs(distance), sell_micros IS NOT NULL AND ${HELD} > 0) AS largest_distance,
           toUInt32(countIf(is_of_day AND sell_micros IS NOT NULL)) AS quoted_count, toUInt32(countIf(is_of_day AND sell_micros IS NULL)) AS unquoted_count
    FROM
    (${heldSamples({
      table: 'peg_samples',
      columns: `${HELD_PRICE}, block_time > ${AT} - ${DAY_SECONDS} AS is_of_day`,
      where: 'true',
      until: AT,
      seconds: DAY_SECONDS,
      most: MAX_SAMPLE_SECONDS,
    })}
    )
    GROUP BY stable`,
})

const NO_SAMPLES = {
  held: { quoted_seconds: 0n, distances: 0n, squares: 0n, unquoted_seconds: 0n },
  largest_distance: null,
  quoted_count: 0,
  unquoted_count: 0,
} satisfies Omit<Awaited<ReturnType<typeof pegsOfDay>>[number], 'stable'>

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
 * The inputs of the risk score of every stable that is in use at `at`, from the facts and peg-break events up to then, ordered
 * by address:
 *
 * - its currency and where it was created, in unix seconds, and of the last 24 hours the sums over time of its prices, the
 *   largest distance from 1 of one that held, in millionths, null without any, and how many samples there are;
 * - the peg-break events that were in progress at any time in the last 7 days, and whether one still is;
 * - the newest state, null if none was read;
 * - how often in the last 7 days the stable adopted a policy, or the policy that it has at `at` changed: its creation,
 *   its administrator, its list, and for a compound policy those of its parts.
 */
export async function riskInputs(clickhouse: ClickHouseClient, { at }: { at: Date }) {
  const [stables, pegs, breaks] = await Promise.all([
    stablesInUse(clickhouse, { at }),
    pegsOfDay(clickhouse, { at }).then(byStable),
    breaksOfWeek(clickhouse, { at }).then(byStable),
  ])
  const stateOf = await newestStates(clickhouse, { stables: stables.map(({ stable }) => stable), at })
  const changesOf = await policyChangesOfWeek(clickhouse, { at, states: stables.map(({ stable }) => stateOf(stable)) })
  return stables.map(({ stable, ...created }) => {
    const state = stateOf(stable)
    return {
      ...NO_SAMPLES,
      ...pegs.get(stable),
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
 * The share of the seconds of the 24 hours in which a sample held that had no price, to six decimals, rounded up. Null if it was
 * not measured: without such a second, and for a stable that is not in USD and so has no peg.
 */
export function unquotedShare({ currency, held }: Pick<RiskInputsRow, 'currency' | 'held'>): number | null {
  const seconds = held.quoted_seconds + held.unquoted_seconds
  if (currency !== 'USD' || seconds === 0n) return null
  return Number((held.unquoted_seconds * 1_000_000n + seconds - 1n) / seconds) / 1e6
}
