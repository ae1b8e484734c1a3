import { z } from 'zod'
import { CoverageSpec } from './shapes.js'

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const address = z.string().regex(/^0x[0-9a-f]{40}$/)
const usd = z.string().regex(/^\d+\.\d{6}$/)
const count = z.number().int().min(0)

const finite = z.number().refine(Number.isFinite)

/** The answer of GET /v1/stablecoins/flow-anomalies. */
export const FlowAnomaliesSpec = z.strictObject({
  anomalies: z.array(
    z
      .strictObject({
        from_token: address,
        to_token: address,
        kind: z.enum(['surge', 'drop', 'silence']),
        window_start: timestamp,
        window_end: timestamp,
        observed_flow_usd: finite.min(0),
        baseline_mean_usd: finite.min(0),
        baseline_stddev_usd: finite.positive(),
        z_score: finite,
        tx_count: count,
        detected_at: timestamp,
        baseline_windows: count.max(672),
        observations: count.min(1),
        active_mean_usd: finite.min(0),
        active_stddev_usd: finite.min(0),
        silent_windows: count.max(672).nullable(),
        longest_silence_windows: count.max(671).nullable(),
        silence_probability: finite.min(0).max(1).nullable(),
        rules: z.tuple([z.literal('z')]).or(z.tuple([z.literal('z'), z.literal('robust')])),
        // With milliseconds.
        published_at: z.iso.datetime().nullable(),
      })
      .refine(
        ({ kind, z_score, observations, tx_count, silent_windows, longest_silence_windows, silence_probability }) => {
          const silence = [silent_windows, longest_silence_windows, silence_probability]
          if (kind === 'silence') return tx_count === 0 && !silence.includes(null)
          const isFar = kind === 'surge' ? z_score > 3 - 1e-9 : z_score < 1e-9 - 3
          return isFar && observations >= 10 && tx_count > 0 && silence.every((figure) => figure === null)
        },
      ),
  ),
  scored_until: timestamp.nullable(),
  searched_from: timestamp.nullable(),
  searched_until: timestamp.nullable(),
  complete_until: timestamp.nullable(),
  coverage: CoverageSpec,
  next_cursor: z.string().min(1).nullable(),
})

const share = finite.min(0).max(1)

/** The answer of GET /v1/stablecoins/flows/scores. */
export const FlowScoresSpec = z.strictObject({
  as_of: timestamp.optional(),
  window_start: timestamp.nullable(),
  window_end: timestamp.nullable(),
  edge_count: count,
  scored_count: count,
  scores: z.array(
    z
      .strictObject({
        from: z.string().min(1),
        to: z.string().min(1),
        from_address: address,
        to_address: address,
        observed_usd: usd.nullable(),
        tx_count: count,
        baseline_windows: count.max(672).nullable(),
        observations: count.max(672).nullable(),
        active_share: share.nullable(),
        median_active_usd: finite.positive().nullable(),
        robust_z: finite.nullable(),
        tx_count_z: finite.nullable(),
        expected_low_usd: finite.positive().nullable(),
        expected_high_usd: finite.positive().nullable(),
        activity_probability: share.nullable(),
        is_by_hour: z.boolean(),
        silent_windows: count.max(672).nullable(),
        p_value: share.nullable(),
        q_value: share.nullable(),
        unusual: z.enum(['surge', 'drop', 'silence']).nullable(),
        reasons: z.array(z.string().min(10)).min(1),
      })
      .refine(
        ({ p_value, q_value, robust_z, silent_windows, unusual, reasons }) =>
          (p_value === null) === (q_value === null) &&
          (p_value === null) === reasons.some((reason) => reason.includes('not scored')) &&
          (p_value !== null || (robust_z === null && silent_windows === null && unusual === null)) &&
          (unusual === 'silence' ? silent_windows !== null : unusual === null || silent_windows === null),
      ),
  ),
  coverage: CoverageSpec,
  next_cursor: z.string().min(1).nullable(),
})
