import { z } from 'zod'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { KnownAt, NEWEST_REVISION, type Published, publisher, SHOWN } from '../jobs/publications.js'
import { PolicyType } from '../stablecoins/newest-states.js'
import { defineOptionalRow } from '../store/define-query.js'
import { dateTime, integerText } from '../store/values.js'
import { UNCAPPED } from '../supply/supply.js'

/** A stable's score at a slot with its inputs (columns: clickhouse/schema). Decimals as text, `slot_at` in seconds. */
export type RiskSnapshot = {
  stable: string
  slot_at: number
  revision: number
  methodology: string
  composite: string
  peg_risk: string
  peg_break_risk: string
  supply_risk: string
  policy_risk: string
  quoted_count_24h: number
  unquoted_count_24h: number
  unquoted_share_24h: string | null
  unquoted_since: number | null
  stddev_bps_24h: string | null
  max_deviation_bps_24h: string | null
  has_open_mild: boolean
  has_open_severe: boolean
  mild_events_7d: number
  severe_events_7d: number
  supply_raw: string | null
  cap_raw: string | null
  paused: boolean | null
  policy_id: string | null
  policy_type: string | null
  state_block_number: string | null
  policy_events_7d: number
}

/** A snapshot as stored. */
export type PublishedRisk = RiskSnapshot & Published

/** Publishes the scores of a slot. */
export const publishRisk = publisher<RiskSnapshot>('risk_snapshots')

const decimal = z.string().transform(Number)
const count = integerText.transform(Number)

const RiskSnapshotRow = z
  .object({
    slot_at: dateTime,
    revision: z.int(),
    published_at: dateTime,
    methodology: z.string(),
    composite: decimal,
    peg_risk: decimal,
    peg_break_risk: decimal,
    supply_risk: decimal,
    policy_risk: decimal,
    quoted_count_24h: count,
    unquoted_count_24h: count,
    unquoted_share_24h: decimal.nullable(),
    unquoted_since: dateTime.nullable(),
    stddev_bps_24h: decimal.nullable(),
    max_deviation_bps_24h: decimal.nullable(),
    has_open_mild: z.boolean(),
    has_open_severe: z.boolean(),
    mild_events_7d: z.int(),
    severe_events_7d: z.int(),
    supply_raw: integerText.nullable(),
    cap_raw: integerText.nullable(),
    paused: z.boolean().nullable(),
    policy_id: integerText.nullable(),
    policy_type: PolicyType.nullable(),
    state_block_number: count.nullable(),
    policy_events_7d: z.int(),
  })
  .transform((row) => {
    const {
      slot_at,
      revision,
      published_at,
      methodology,
      composite,
      peg_risk,
      peg_break_risk,
      supply_risk,
      policy_risk,
      ...rest
    } = row
    const { supply_raw, cap_raw, paused, policy_id, policy_type, ...inputs } = rest
    return {
      slot_at,
      revision,
      published_at,
      methodology,
      composite,
      components: { peg_risk, peg_break_risk, supply_risk, policy_risk },
      inputs: {
        ...inputs,
        supply: supply_raw === null ? null : { current: supply_raw, cap: cap_raw === `${UNCAPPED}` ? null : cap_raw },
        policy:
          policy_type === null || policy_id === null || paused === null
            ? null
            : { type: policy_type, policy_id, paused },
      },
    }
  })
export type RiskSnapshotRow = z.output<typeof RiskSnapshotRow>

/**
 * A stable's newest risk snapshot at or before `as_of`, of those that were shown at `known_at`; null if there was none.
 */
export const riskAt = recentFirst(
  defineOptionalRow({
    name: 'risk_at',
    params: z.object({
      stable: z.string(),
      as_of: z.date(),
      known_at: KnownAt,
      recent_only: z.boolean(),
    }),
    row: RiskSnapshotRow,
    sql: `
    SELECT * EXCEPT (stable, figures_hash) REPLACE (toString(supply_raw) AS supply_raw, toString(cap_raw) AS cap_raw)
    FROM risk_snapshots
    WHERE stable = {stable: String} AND slot_at <= {as_of: DateTime} AND ${isRecent('slot_at', 'as_of')}
      AND ${SHOWN}
    ORDER BY slot_at DESC, ${NEWEST_REVISION} LIMIT 1`,
  }),
)
