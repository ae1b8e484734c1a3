import { persistAt } from '../sources/chain-changed.js'
import { allOf } from '../sources/multicall.js'
import { type Quote, readQuotes } from '../sources/quotes.js'
import { quoteChanges } from '../stages/quote-changes.js'
import { type QuotedBlock, quoteRuns, readRuns } from '../stages/quote-runs.js'
import type { BatchReader, DecodedBlock } from './decode.js'

/** With fewer blocks, none lies between two others. */
const FEWEST_BLOCKS = 3

/**
 * The quotes of the stables `wanted` of each block of a batch, by stable. Of consecutive blocks in which nothing changes
 * what a quote depends on, only the first and the last are read; with `readsEveryQuote`, all are. The orders that
 * the logs name must be loaded. Rejects with StateUnavailableError if the node no longer has the state.
 */
export async function readBatchQuotes(
  { rpc, orders, registry, readsEveryQuote = false }: BatchReader,
  decoded: readonly DecodedBlock[],
  wanted: ReadonlyArray<readonly string[]>,
): Promise<Map<string, Quote>[]> {
  const { block: newest } = decoded.at(-1) as DecodedBlock
  const carries = !readsEveryQuote && decoded.length >= FEWEST_BLOCKS
  const blocks = decoded.map(({ block, events }, i): QuotedBlock => {
    const changes = carries ? quoteChanges(block.logs, events, orders.baseOf) : 'all'
    return {
      stables: wanted[i] ?? [],
      isChild: block.parentHash === decoded[i - 1]?.block.hash,
      mayChange: (stable) => {
        if (changes === 'all') return true
        if (changes.size === 0) return false
        const route = registry.routeOf(stable, block.number)
        return route === null || route.some((token) => changes.has(token))
      },
    }
  })
  return readRuns(blocks, quoteRuns(blocks), (lists) => {
    const reads = lists.map((stables, i) => () => readQuotes(rpc, stables, (decoded[i] as DecodedBlock).block))
    return persistAt(rpc, 'read quotes', newest, allOf(reads))
  })
}
