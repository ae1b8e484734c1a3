import { z } from 'zod'
import { TRACKS } from '../peg/break-detection.js'
import { SIZES } from './prices.js'

const bps = z.number().min(0).max(10_000)
const seconds = z.number().min(0).max(31_536_000)

/** A configuration of the detector of breaks: whose price it follows, and by which rule. */
export const Detector = z
  .strictObject({
    name: z.string().regex(/^[\w.-]{1,40}$/, 'must have 1 to 40 letters, digits, points, hyphens or underscores'),
    /** Follows the price of a token if so many are sold at once. */
    size_tokens: z.literal(SIZES).default(1),
    /** Believes that price only as far as the price of so many tokens agrees. */
    agree_tokens: z.literal(SIZES).nullable().default(null),
    enter_bps: bps,
    exit_bps: bps.optional(),
    min_seconds: seconds,
    tau_seconds: seconds.default(0),
    baseline_seconds: seconds.default(0),
    unquoted_seconds: seconds.nullable().default(null),
  })
  .transform(({ exit_bps, ...detector }) => ({ ...detector, exit_bps: exit_bps ?? detector.enter_bps }))
  .refine(({ enter_bps, exit_bps }) => exit_bps <= enter_bps, {
    path: ['exit_bps'],
    error: 'must not be above enter_bps',
  })
export type Detector = z.output<typeof Detector>

/** Detectors to compare, each with a name of its own. */
export const Detectors = z
  .array(Detector)
  .min(1, 'must have at least one detector')
  .max(100, 'must have at most 100 detectors')
  .refine((detectors) => new Set(detectors.map(({ name }) => name)).size === detectors.length, {
    error: 'names must differ',
  })

/** The published tracks. */
const published = Object.entries(TRACKS).map(([name, { allowed_micros, min_seconds }]) => ({
  name,
  enter_bps: allowed_micros / 100,
  min_seconds,
}))

/**
 * The published tracks and, beside each, one that believes a deviation only as far as the price of 10,000 tokens agrees, ends a
 * break well inside its limit, smooths prices over half a minute, and counts time without a quote as a break.
 */
export const DEFAULT_DETECTORS: readonly Detector[] = Detectors.parse([
  ...published,
  ...published.map(({ name, enter_bps, min_seconds }) => ({
    name: `${name}-agreed`,
    agree_tokens: 10_000,
    enter_bps,
    exit_bps: enter_bps * 0.7,
    min_seconds,
    tau_seconds: 30,
    unquoted_seconds: 120,
  })),
])
