/** The result of one check of the database, against the chain or against itself. */
export type Finding = {
  /** What was checked. */
  what: string
  status: 'match' | 'mismatch' | 'not checked'
  /** How much was compared, or why nothing was. */
  scope: string
  /** The first differences. */
  differences: string[]
}

/** Most differences that a finding lists; the others are only counted. */
export const MOST_SHOWN = 5

/** The finding of a completed comparison, with all its differences. */
export const compared = (what: string, scope: string, differences: readonly string[]): Finding => ({
  what,
  status: differences.length === 0 ? 'match' : 'mismatch',
  scope: differences.length === 0 ? scope : `${scope}, ${differences.length} differ`,
  differences: differences.slice(0, MOST_SHOWN),
})

/** The finding of a comparison that was not possible. */
export const notChecked = (what: string, why: string): Finding => ({
  what,
  status: 'not checked',
  scope: why,
  differences: [],
})
