import type { BlockWithLogs } from '../sources/blocks.js'
import { ChainChangedError } from '../sources/chain-changed.js'

/**
 * Passes ranges of blocks on as long as each begins with a child of the block before it. `last` is the block before
 * the first range, null where there is none; `planned` is the end of a range that was read before and may be written
 * in part, which must be the same again. Rejects with ChainChangedError.
 */
export async function* linked<Range extends readonly Pick<BlockWithLogs, 'number' | 'hash' | 'parentHash'>[]>(
  ranges: AsyncIterable<Range>,
  last: { hash: string } | null,
  planned: { to: number; lastHash: string } | null,
): AsyncGenerator<Range> {
  let parent = last?.hash
  for await (const range of ranges) {
    const [first, end] = [range[0], range.at(-1)] as [Range[number], Range[number]]
    if (parent !== undefined && first.parentHash !== parent)
      throw new ChainChangedError(`block ${first.number} is no child of ${parent}`)
    if (planned?.to === end.number && planned.lastHash !== end.hash)
      throw new ChainChangedError(`block ${end.number} was ${planned.lastHash} when it was planned`)
    parent = end.hash
    yield range
  }
}
