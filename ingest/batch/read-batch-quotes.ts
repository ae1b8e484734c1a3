import { persistAt } from '../sources/chain-changed.js'
import { allOf } from '../sources/multicall.js'
import { type Quote, readQuotes } from '../sources/quotes.js'
import { quoteChanges } from '../stages/quote-changes.js'
import { type QuotedBlock, quoteRuns, readRuns } from '../stages/quote-runs.js'
import type { BatchReader, DecodedBlock } from './decode.js'

/** With fewer blocks, none lies between two others. */
const FEWEST_BLOCKS = 3

/** Whether quotes of a batch are taken from the block before, where its logs show that they are the same. */
export const carriesQuotes = (
  { readsEveryQuote = false }: Pick<BatchReader, 'readsEveryQuote'>,
  decoded: readonly DecodedBlock[],
): boolean => !readsEveryQuote && decoded.length >= FEWEST_BLOCKS

/**
 * The quotes of the stables of each block of a batch (`stablesOf`), by stable. Of consecutive blocks in which nothing changes
 * what a quote depends on, only the first and the last are read; with `readsEveryQuote`, all are. The orders that
 * the logs name must be loaded if it `carriesQuotes`. Rejects with StateUnavailableError if the node no longer has the state.
 */
export async function readBatchQuotes(
  reader: BatchReader,
  decoded: readonly DecodedBlock[],
  stablesOf: ReadonlyArray<readonly string[]>,
): Promise<Map<string, Quote>[]> {
  const { rpc, orders, registry } = reader
  const { block: newest } = decoded.at(-1) as DecodedBlock
  const carries = carriesQuotes(reader, decoded)
  const blocks = decoded.map(({ block, events }, i): QuotedBlock => {
    const changes = carries ? quoteChanges(block.logs, events, orders.baseOf) : 'all'
    return {
      stables: stablesOf[i] ?? [],
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
