import type { ClickHouseClient } from '@clickhouse/client'
import { lostQuotes } from '../../clickhouse/peg/quotes.js'
import { priceSpread } from '../../clickhouse/peg/windows.js'
import { riskInputs, unquotedShare } from '../../clickhouse/risk/inputs.js'
import { RISK_METHODOLOGY, riskScore } from '../../clickhouse/risk/score.js'
import { publishRisk, type RiskSnapshot } from '../../clickhouse/risk/snapshots.js'
import type { Slot } from '../schedule/run-slots.js'

/**
 * Scores every stable that exists at the slot and stores the inputs of the score. The peg-break events must be known up
 * to the slot: it is due once the peg-events job has completed a slot at or after it.
 */
export async function snapshotRisk(clickhouse: ClickHouseClient, slot: Slot, now = () => new Date()): Promise<number> {
  const [inputs, lost] = await Promise.all([
    riskInputs(clickhouse, { at: slot.at }),
    lostQuotes(clickhouse, { as_of: slot.at }),
  ])
  const since = new Map(lost.map((loss) => [loss.stable, loss.since]))
  const rows = inputs.map((row): RiskSnapshot => {
    // Digit for digit as in the 24h window of a peg answer: eight decimals of a price are four of a basis point.
    const spread = priceSpread(row)
    const stddev_bps_24h = spread && Math.round(spread.stddev_price * 1e8) / 1e4
    const max_deviation_bps_24h = spread?.max_deviation_bps ?? null
    const unquoted_share_24h = unquotedShare(row)
    const unquoted_since = unquoted_share_24h === null ? null : (since.get(row.stable) ?? null)
    const unquoted_seconds = unquoted_since && (slot.at.getTime() - unquoted_since.getTime()) / 1000
    const score = riskScore({ ...row, stddev_bps_24h, max_deviation_bps_24h, unquoted_share_24h, unquoted_seconds })
    return {
      stable: row.stable,
      slot_at: slot.at.getTime() / 1000,
      revision: slot.revision,
      methodology: RISK_METHODOLOGY,
      composite: score.composite.toFixed(3),
      peg_risk: score.peg_risk.toFixed(2),
      peg_break_risk: score.peg_break_risk.toFixed(2),
      supply_risk: score.supply_risk.toFixed(2),
      policy_risk: score.policy_risk.toFixed(2),
      quoted_count_24h: Number(row.quoted_count),
      unquoted_count_24h: Number(row.unquoted_count),
      unquoted_share_24h: unquoted_share_24h?.toFixed(6) ?? null,
      unquoted_since: unquoted_since && unquoted_since.getTime() / 1000,
      stddev_bps_24h: stddev_bps_24h?.toFixed(4) ?? null,
      max_deviation_bps_24h: max_deviation_bps_24h?.toFixed(2) ?? null,
      has_open_mild: row.has_open_mild,
      has_open_severe: row.has_open_severe,
      mild_events_7d: row.mild_events_7d,
      severe_events_7d: row.severe_events_7d,
      supply_raw: row.supply_raw?.toString() ?? null,
      cap_raw: row.cap_raw?.toString() ?? null,
      paused: row.paused,
      policy_id: row.policy_id,
      policy_type: row.policy_type,
      state_block_number: row.state_block_number,
      policy_events_7d: row.policy_events_7d,
    }
  })
  return publishRisk(clickhouse, rows, slot, now())
}
