import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import { isInUseAt } from '../chain/token-lists.js'
import { PEG_EVENTS_SINCE_SETTINGS, pegEventsSince } from '../peg/breaks.js'
import { MINUTE_SUMS, selected } from '../peg/sums.js'
import { PegSumsRow } from '../peg/windows.js'
import { PolicyType } from '../stablecoins/states.js'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { newestReads } from '../supply/newest-reads.js'

const count = z.int().nonnegative()
const amount = integerText.nullable().transform((text) => (text === null ? null : BigInt(text)))

const RiskInputsRow = z.object({
  ...PegSumsRow.omit({ seconds_outside_10bps: true, seconds_outside_50bps: true }).shape,
  stable: z.string(),
  currency: z.string(),
  created_block: count,
  created_at: count,
  unquoted_minutes_ppm: count.nullable(),
  has_open_mild: z.boolean(),
  has_open_severe: z.boolean(),
  mild_events_7d: count,
  severe_events_7d: count,
  supply_raw: amount,
  cap_raw: amount,
  paused: z.boolean().nullable(),
  policy_id: integerText.nullable(),
  policy_type: PolicyType.nullable(),
  state_block_number: integerText.nullable(),
  policy_events_7d: count,
})
export type RiskInputsRow = z.output<typeof RiskInputsRow>

/**
 * The inputs of the risk score of every stable that is in use at `at`, a whole minute, from the facts and peg-break events
 * up to then:
 *
 * - its currency and where it was created, in unix seconds, the sums over the samples of the last 24 hours, which are whole minutes, and the mean over the minutes
 *   with a sample of their share without a quote, in millionths, rounded down;
 * - the peg-break events that were in progress at any time in the last 7 days, and whether one still is;
 * - the newest state, null if none was read;
 * - how often in the last 7 days the stable adopted a policy, or the policy that it has at `at` changed: its creation,
 *   its administrator, its list, and for a compound policy those of its parts.
 */
export const riskInputs = defineQuery({
  name: 'risk_inputs',
  params: z.object({ at: z.date() }),
  row: RiskInputsRow,
  sql: `
    WITH
        {at: DateTime} AS at,
        known AS
        (
            SELECT stable, currency, toUInt32(stablecoins.block_number) AS created_block, toUnixTimestamp(block_time) AS created_at
            FROM stablecoins WHERE block_time <= at AND ${isInUseAt('at')}
        ),
        states AS
        (
            SELECT stable, newest.1 AS supply_raw, newest.2 AS cap_raw, newest.3 AS paused, newest.4 AS policy_id,
                   newest.5 AS policy_type, newest.6 AS state_block_number
            FROM
            (
                SELECT stable, argMax((supply_raw, cap_raw, paused, policy_id, toString(policy_type), block_number), block_number) AS newest
                FROM state_reads
                WHERE (stable, block_time) IN (${newestReads('SELECT stable FROM known', 'at')})
                GROUP BY stable
            )
        ),
        compounds AS
        (
            SELECT assumeNotNull(policy_id) AS policy_id,
                   arrayMap(part -> assumeNotNull(part), [sender_policy_id, recipient_policy_id, mint_recipient_policy_id]) AS parts
            FROM policy_events WHERE kind = 'compound_created' AND block_time <= at
        ),
        policies AS
        (
            SELECT stable, arrayJoin(arrayDistinct(arrayPushFront(parts, policy_id))) AS policy_id
            FROM states LEFT JOIN compounds USING policy_id
        )
    SELECT stable, currency, created_block, created_at, unquoted_minutes_ppm,
           quoted_count, unquoted_count, deviation_sum, deviation_square_sum, deviation_min, deviation_max,
           ifNull(open_mild, 0)::Bool AS has_open_mild, ifNull(open_severe, 0)::Bool AS has_open_severe,
           toUInt32(ifNull(mild, 0)) AS mild_events_7d, toUInt32(ifNull(severe, 0)) AS severe_events_7d,
           toString(supply_raw) AS supply_raw, toString(cap_raw) AS cap_raw, paused,
           toString(policy_id) AS policy_id, policy_type, toString(state_block_number) AS state_block_number,
           toUInt32(ifNull(policy_events, 0)) AS policy_events_7d
    FROM known
    LEFT JOIN
    (
        SELECT stable, ${selected(MINUTE_SUMS)},
               toUInt32(intDiv(sum(intDiv(1000000 * minutes.unquoted_count, minutes.quoted_count + minutes.unquoted_count)), count())) AS unquoted_minutes_ppm
        FROM
        (
            SELECT stable, ${selected(MINUTE_SUMS)}
            FROM peg_minutes WHERE minute_end > at - ${DAY_SECONDS} AND minute_end <= at
            GROUP BY stable, minute_end
        ) AS minutes
        GROUP BY stable
    ) AS peg USING stable
    LEFT JOIN states USING stable
    LEFT JOIN
    (
        SELECT stable,
               countIf(severity = 'mild') AS mild, countIf(severity = 'severe') AS severe,
               countIf(severity = 'mild' AND is_open) > 0 AS open_mild, countIf(severity = 'severe' AND is_open) > 0 AS open_severe
        FROM
        (
            SELECT stable, severity, ended_at IS NULL OR ended_at > at AS is_open
            FROM (${pegEventsSince(`at - ${WEEK_SECONDS}`)})
            WHERE confirmed_at <= at AND (ended_at IS NULL OR ended_at > at - ${WEEK_SECONDS})
        )
        GROUP BY stable
    ) AS events USING stable
    LEFT JOIN
    (
        SELECT stable, count() AS policy_events
        FROM
        (
            SELECT assumeNotNull(stable) AS stable FROM policy_events
            WHERE kind = 'token_policy' AND block_time > at - ${WEEK_SECONDS} AND block_time <= at
            UNION ALL
            SELECT stable FROM policies
            INNER JOIN
            (
                SELECT assumeNotNull(policy_id) AS policy_id FROM policy_events
                WHERE kind IN ('created', 'compound_created', 'admin', 'whitelist', 'blacklist')
                  AND block_time > at - ${WEEK_SECONDS} AND block_time <= at
            ) AS changes USING policy_id
        )
        GROUP BY stable
    ) AS activity USING stable
    ORDER BY stable
    ${PEG_EVENTS_SINCE_SETTINGS}, join_use_nulls = 1`,
})

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
