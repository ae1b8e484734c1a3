/** What a check of the database against the chain, or against itself, has found. */
export type Finding = {
  /** What was checked. */
  what: string
  status: 'match' | 'mismatch' | 'not checked'
  /** How much was compared, or why nothing was. */
  scope: string
  /** The first differences. */
  differences: string[]
}

/** Differences that a finding tells of; the others are counted. */
export const MOST_SHOWN = 5

/** A finding of something that was compared, with all its differences. */
export const compared = (what: string, scope: string, differences: readonly string[]): Finding => ({
  what,
  status: differences.length === 0 ? 'match' : 'mismatch',
  scope: differences.length === 0 ? scope : `${scope}, ${differences.length} differ`,
  differences: differences.slice(0, MOST_SHOWN),
})

/** A finding of something that could not be compared. */
export const notChecked = (what: string, why: string): Finding => ({
  what,
  status: 'not checked',
  scope: why,
  differences: [],
})
