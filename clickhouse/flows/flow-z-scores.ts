import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'

/** A window of an edge that lies far from its baseline, with the sums that its score is made of. */
const FlowScore = z.object({
  from_token: z.string(),
  to_token: z.string(),
  observed_micros: integerText,
  tx_count: z.int(),
  bucket_count: z.int(),
  observation_count: z.int(),
  baseline_sum: integerText,
  baseline_square_sum: integerText,
})
export type FlowScore = z.infer<typeof FlowScore>

/**
 * The edges whose flow in the 15 minutes from `window_start`, a multiple of 15 minutes, lies at least `min_abs_z`
 * population standard deviations from the mean of its baseline, by their addresses.
 *
 * The baseline is the 672 windows before, or those from the edge's first flow on. A window without a flow counts as 0;
 * one with flows of which none has a USD value is unknown, and neither counts nor is scored. At least 10 windows have to
 * have a value, and they have to vary. All of it is sums of integers, so that what never varied has a variance of 0 and
 * the threshold is exact; they hold up to 1e28 USD a window.
 */
export const flowZScores = defineQuery({
  name: 'flow_z_scores',
  params: z.object({ window_start: z.date(), min_abs_z: z.int() }),
  row: FlowScore,
  sql: `
    WITH {window_start: DateTime('UTC')} AS scored,
         toUInt16((toUnixTimestamp(scored) - toUnixTimestamp(greatest(first_window, scored - 604800))) / 900) - unknown AS buckets,
         toInt256(buckets) * squares - toInt256(total) * total AS variance,
         toInt256(buckets) * ifNull(observed, 0) - toInt256(total) AS distance
    SELECT from_token, to_token, toString(ifNull(observed, 0)) AS observed_micros, toUInt32(transactions) AS tx_count,
           toUInt16(buckets) AS bucket_count, toUInt16(valued) AS observation_count,
           toString(total) AS baseline_sum, toString(squares) AS baseline_square_sum
    FROM
    (
        SELECT edge, countIf(flow_count > unpriced_count) AS valued, count() - valued AS unknown,
               sum(volume_micros) AS total, sum(toUInt256(volume_micros) * volume_micros) AS squares
        FROM flow_buckets FINAL
        WHERE window_start >= scored - 604800 AND window_start < scored
        GROUP BY edge
        HAVING valued >= 10
    ) AS baselines
    INNER JOIN
    (
        SELECT reinterpretAsUInt128(sipHash128(from_token, to_token)) AS edge, from_token, to_token, min(first_window) AS first_window
        FROM flow_edge_starts GROUP BY from_token, to_token
    ) AS edges USING edge
    LEFT JOIN
    (
        SELECT edge, toNullable(volume_micros) AS observed, finalizeAggregation(tx_count) AS transactions,
               flow_count = unpriced_count AS is_unknown
        FROM flow_buckets FINAL
        WHERE window_start = scored
    ) AS observations USING edge
    WHERE NOT is_unknown AND variance > 0
      AND distance * distance >= toInt256({min_abs_z: UInt8} * {min_abs_z: UInt8}) * variance
    ORDER BY from_token, to_token`,
})
