/** Both ends included. */
type BlockRange = { from_block: number; to_block: number }

/** The ranges in order, those that meet or overlap as one. */
function merged(ranges: readonly BlockRange[]): BlockRange[] {
  const whole: BlockRange[] = []
  for (const { from_block, to_block } of ranges.toSorted((a, b) => a.from_block - b.from_block)) {
    const last = whole.at(-1)
    if (last && from_block <= last.to_block + 1) last.to_block = Math.max(last.to_block, to_block)
    else whole.push({ from_block, to_block })
  }
  return whole
}

/** How many blocks of `gaps` are in none of the ranges of `covered`. */
export function missingBlocks(gaps: readonly BlockRange[], covered: readonly BlockRange[]): number {
  const known = merged(covered)
  let missing = 0
  for (const gap of merged(gaps)) {
    missing += gap.to_block - gap.from_block + 1
    for (const range of known) {
      const from = Math.max(gap.from_block, range.from_block)
      const to = Math.min(gap.to_block, range.to_block)
      if (from <= to) missing -= to - from + 1
    }
  }
  return missing
}
