import { z } from 'zod'
import { MIN_ABS_Z } from '../../clickhouse/flows/scores.js'
import { DetectorName, listOf } from './detectors.js'

/**
 * What a detector of flow anomalies flags a window by: the two rules by which flows are announced, z alone, or one of the
 * robust scores alone.
 */
const MEASURES = ['anomaly', 'z_score', 'robust', 'robust_z', 'q_value'] as const

/** A configuration of a detector of flow anomalies. All have the baseline that is published. */
export const FlowDetector = z
  .strictObject({
    name: DetectorName,
    measure: z.enum(MEASURES),
    /** Flags a window with at least this distance; of `q_value`, with at most this share of false findings. */
    limit: z.number().positive(),
    /** It counts from the end of so many flagged windows in succession. */
    min_windows: z.int().min(1).max(672).default(1),
  })
  // The sums of these two are compared as integers.
  .refine(
    ({ measure, limit }) => !['anomaly', 'z_score'].includes(measure) || (Number.isInteger(limit) && limit < 256),
    {
      path: ['limit'],
      error: 'must be a whole number from 1 to 255',
    },
  )
  .refine(({ measure, limit }) => measure !== 'q_value' || limit <= 1, {
    path: ['limit'],
    error: 'must be at most 1',
  })
export type FlowDetector = z.output<typeof FlowDetector>

export const FlowDetectors = listOf(FlowDetector)

/** What is announced by the rule z, the z-score that it grew from, what is announced by the rule robust, and q alone. */
export const DEFAULT_FLOW_DETECTORS: readonly FlowDetector[] = FlowDetectors.parse([
  { name: 'z', measure: 'anomaly', limit: MIN_ABS_Z },
  { name: 'z_score', measure: 'z_score', limit: MIN_ABS_Z },
  { name: 'robust', measure: 'robust', limit: MIN_ABS_Z },
  { name: 'q_value', measure: 'q_value', limit: 0.01 },
])
