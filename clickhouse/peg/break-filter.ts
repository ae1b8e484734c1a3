import { z } from 'zod'

/** Whose breaks: those of the price of one token, or those of a smoothed price on which larger sizes agree. */
export const Track = z.enum(['published', 'agreed'])
export type Track = z.infer<typeof Track>

/** How far from the peg a break is. Each is found independently of the other. */
export const Severity = z.enum(['mild', 'severe'])
export type Severity = z.infer<typeof Severity>

/** On which side of the peg a break began: that of its first sample outside. */
export const Direction = z.enum(['below', 'above'])
export type Direction = z.infer<typeof Direction>

/** The peg breaks that a reader or subscriber wants. A field that is absent, empty or 0 does not filter. */
export type BreakFilter = {
  severity?: Severity | '' | undefined
  min_bps?: number | undefined
  min_seconds?: number | undefined
  min_size?: number | undefined
}

/** A break as far as it is known where it is filtered: what a filter looks at. */
export type FilteredBreak<Value = unknown> = {
  severity: Value
  max_deviation_bps: Value
  duration_seconds: Value
  standing_tokens: Value
}

/** Whether a break passes a filter. A break of which a value is not known does not pass the filter of that value. */
export function breakPasses(known: FilteredBreak, { severity, min_bps, min_seconds, min_size }: BreakFilter): boolean {
  const reaches = (value: unknown, least: number): boolean => typeof value === 'number' && value >= least
  return (
    (!severity || known.severity === severity) &&
    (!min_bps || reaches(known.max_deviation_bps, min_bps)) &&
    (!min_seconds || reaches(known.duration_seconds, min_seconds)) &&
    (!min_size || reaches(known.standing_tokens, min_size))
  )
}

/** The parameters that `breakCondition` needs: those of `BreakFilter`. */
export const BreakFilterParams = {
  severity: z.string().default(''),
  min_bps: z.number().default(0),
  min_seconds: z.int().default(0),
  min_size: z.int().default(0),
}

/** The condition of `breakPasses`, in SQL, of a break with these expressions. Reads none of them without a filter. */
export const breakCondition = ({
  severity,
  max_deviation_bps,
  duration_seconds,
  standing_tokens,
}: FilteredBreak<string>): string => `
  (({severity: String} = '' AND {min_bps: Float64} = 0 AND {min_seconds: UInt32} = 0 AND {min_size: UInt32} = 0)
   OR (({severity: String} = '' OR ${severity} = {severity: String})
       AND ({min_bps: Float64} = 0 OR ${max_deviation_bps} >= {min_bps: Float64})
       AND ({min_seconds: UInt32} = 0 OR ${duration_seconds} >= {min_seconds: UInt32})
       AND ({min_size: UInt32} = 0 OR ${standing_tokens} >= {min_size: UInt32})))`
