/** Blocks `from` to `to`, both included. */
export type BlockRange = { from: number; to: number }

/**
 * Consecutive ranges, from `first` up to each head in turn. None is longer than `size`; while there are more blocks
 * than that, ranges end at multiples of it. `planned` is the unfinished range of an earlier process; it comes first,
 * unchanged.
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
