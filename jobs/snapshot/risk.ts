import type { ClickHouseClient } from '@clickhouse/client'
import { timeWeighted } from '../../clickhouse/peg/averages.js'
import { lostQuotes } from '../../clickhouse/peg/quotes.js'
import { extendedInputs, knownAt, leftOut } from '../../clickhouse/risk/extended/inputs.js'
import { EXTENDED_RISK_VERSION, extendedScore } from '../../clickhouse/risk/extended/score.js'
import { publishExtended, snapshotOf } from '../../clickhouse/risk/extended/snapshots.js'
import { type RiskInputsRow, riskInputs, unquotedShare } from '../../clickhouse/risk/inputs.js'
import { RISK_METHODOLOGY, riskScore } from '../../clickhouse/risk/score.js'
import { publishRisk, type RiskSnapshot } from '../../clickhouse/risk/snapshots.js'
import { DAY_SECONDS } from '../../process/instants.js'
import type { Slot } from '../schedule/run-slots.js'

/** The scores of a slot by the one formula and by the other. */
type Scored = { inputs: readonly RiskInputsRow[]; unquotedSince: ReadonlyMap<string, Date> }

/** How long before the slot a stable has had no quote, in seconds; null if it has one. */
const secondsSince = (since: Date | null, slot: Slot): number | null =>
  since && (slot.at.getTime() - since.getTime()) / 1000

const slotSeconds = (slot: Slot): number => slot.at.getTime() / 1000

/** The rows of the composite score, with its inputs. */
const composites = ({ inputs, unquotedSince }: Scored, slot: Slot): RiskSnapshot[] =>
  inputs.map((row) => {
    // Digit for digit as in the 24h window of average prices: eight decimals of a price are four of a basis point.
    const { stddev } = timeWeighted(row.held, DAY_SECONDS)
    const stddev_bps_24h = stddev && Math.round(stddev * 1e8) / 1e4
    const max_deviation_bps_24h = row.largest_distance && row.largest_distance / 100
    const unquoted_share_24h = unquotedShare(row)
    const unquoted_since = unquoted_share_24h === null ? null : (unquotedSince.get(row.stable) ?? null)
    const unquoted_seconds = secondsSince(unquoted_since, slot)
    const score = riskScore({ ...row, stddev_bps_24h, max_deviation_bps_24h, unquoted_share_24h, unquoted_seconds })
    return {
      stable: row.stable,
      slot_at: slotSeconds(slot),
      revision: slot.revision,
      methodology: RISK_METHODOLOGY,
      composite: score.composite.toFixed(3),
      peg_risk: score.peg_risk.toFixed(2),
      peg_break_risk: score.peg_break_risk.toFixed(2),
      supply_risk: score.supply_risk.toFixed(2),
      policy_risk: score.policy_risk.toFixed(2),
      quoted_count_24h: row.quoted_count,
      unquoted_count_24h: row.unquoted_count,
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

/** The rows of the extended score. */
async function extended(clickhouse: ClickHouseClient, { inputs, unquotedSince }: Scored, slot: Slot) {
  const { tracksHolders, knownOf } = await knownAt(clickhouse, { at: slot.at, stables: inputs })
  return inputs.map((row) => {
    const unquoted_seconds = secondsSince(unquotedSince.get(row.stable) ?? null, slot)
    const measured = extendedInputs({ ...row, unquoted_seconds }, knownOf(row))
    const identity = { stable: row.stable, slot_at: slotSeconds(slot), revision: slot.revision }
    const score = extendedScore(measured.inputs, leftOut(row.stable, { tracksHolders }))
    return snapshotOf({ ...identity, version: EXTENDED_RISK_VERSION }, score, measured)
  })
}

/**
 * Scores every stable that is in use at the slot, by the composite and by the extended formula, and stores the inputs of the
 * scores. The peg-break events must be known up to the slot: it is due once the peg-events job has completed a slot at or
 * after it.
 */
export async function snapshotRisk(clickhouse: ClickHouseClient, slot: Slot, now = () => new Date()): Promise<number> {
  const [inputs, lost] = await Promise.all([
    riskInputs(clickhouse, { at: slot.at }),
    lostQuotes(clickhouse, { as_of: slot.at }),
  ])
  const scored = { inputs, unquotedSince: new Map(lost.map((loss) => [loss.stable, loss.since])) }
  const rows = await extended(clickhouse, scored, slot)
  const published = await publishExtended(clickhouse, rows, slot, now())
  return published + (await publishRisk(clickhouse, composites(scored, slot), slot, now()))
}
