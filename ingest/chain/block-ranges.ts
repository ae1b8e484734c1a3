/** Blocks `from` to `to`, both included. */
export type BlockRange = { from: number; to: number }

/**
 * Ranges that follow each other without a gap, from `first` up to each head in turn. None is longer than `size`, and
 * where there is more to do than that, they end at multiples of it. `planned` is the range an earlier process left
 * half-done; it comes first, as it was.
 */
export async function* blockRanges(
  heads: AsyncIterable<number>,
  first: number,
  size: number,
  planned: BlockRange | null,
): AsyncGenerator<BlockRange> {
  let next = first
  if (planned) {
    yield planned
    next = planned.to + 1
  }
  for await (const head of heads) {
    while (next <= head) {
      const to = Math.min(head, next - (next % size) + size - 1)
      yield { from: next, to }
      next = to + 1
    }
  }
}
