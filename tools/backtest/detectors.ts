import { z } from 'zod'
import { PriceSide, SIZES } from '../../clickhouse/peg/agreed/prices.js'
import { Severity, Track } from '../../clickhouse/peg/break-filter.js'
import { BREAK_PRICES, BREAK_RULES } from '../../clickhouse/peg/rules.js'

const bps = z.number().min(0).max(10_000)
const seconds = z.number().min(0).max(31_536_000)

/** The name of a detector in tables and files. */
export const DetectorName = z
  .string()
  .regex(/^[\w.-]{1,40}$/, 'must have 1 to 40 letters, digits, points, hyphens or underscores')

/** Detectors to compare, each with a name of its own. */
export const listOf = <One extends z.ZodType<{ name: string }>>(One: One) =>
  z
    .array(One)
    .min(1, 'must have at least one detector')
    .max(100, 'must have at most 100 detectors')
    .refine((detectors) => new Set(detectors.map(({ name }) => name)).size === detectors.length, {
      error: 'names must differ',
    })

/** A configuration of the detector of breaks: whose price it follows, and by which rule. */
export const Detector = z
  .strictObject({
    name: DetectorName,
    /** Follows what a token sells for, or the middle of bid and ask. */
    price: PriceSide.default('bid'),
    /** Follows the price of a token if so many are traded at once. */
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

export const Detectors = listOf(Detector)

/** The rules of the published track and, beside them, those of the agreed one. */
export const DEFAULT_DETECTORS: readonly Detector[] = Detectors.parse(
  Track.options.flatMap((track) =>
    Severity.options.map((severity) => ({
      name: track === 'agreed' ? `${severity}-agreed` : severity,
      ...BREAK_PRICES[track],
      ...BREAK_RULES[track][severity],
    })),
  ),
)
