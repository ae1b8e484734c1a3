import type { Quote } from '../sources/quotes.js'

/** One block of a batch, as far as the quotes of its stables depend on it. */
export type QuotedBlock = {
  /** The stables whose quotes are wanted, each once. */
  stables: readonly string[]
  /** Whether it is a child of the block before it in the batch. */
  isChild: boolean
  /** Whether its logs may have changed the quote of a stable. */
  mayChange: (stable: string) => boolean
}

/**
 * Consecutive blocks of a batch, by their places, of which only the first may have changed what the quote of a stable
 * depends on.
 */
export type QuoteRun = { stable: string; first: number; last: number }

/** The runs of every stable, each of its blocks in one, in the order of their first blocks. */
export function quoteRuns(blocks: readonly QuotedBlock[]): QuoteRun[] {
  const runs: QuoteRun[] = []
  const open = new Map<string, QuoteRun>()
  for (const [i, { stables, isChild, mayChange }] of blocks.entries()) {
    for (const stable of stables) {
      const run = open.get(stable)
      if (run && run.last === i - 1 && isChild && !mayChange(stable)) run.last = i
      else {
        const begun = { stable, first: i, last: i }
        open.set(stable, begun)
        runs.push(begun)
      }
    }
  }
  return runs
}

/** Whether a quote that was read at both ends of a run is that of every block between. */
const isSame = (a: Quote, b: Quote): boolean =>
  a.status !== 'failed' && a.status === b.status && a.sellMicros === b.sellMicros && a.buyMicros === b.buyMicros

/**
 * The quotes of the stables of each block of a batch, by stable. Only the ends of each run are read. If they agree, the
 * blocks between have the same quote; if not, something else than the logs has changed it, as a new version of the chain's
 * rules may, and these blocks are read too. `read` returns the quotes of the stables that are wanted of each block, in their order.
 */
export async function readRuns(
  blocks: readonly Pick<QuotedBlock, 'stables'>[],
  runs: readonly QuoteRun[],
  read: (stablesToRead: ReadonlyArray<readonly string[]>) => Promise<Quote[][]>,
): Promise<Map<string, Quote>[]> {
  const quotes = blocks.map(() => new Map<string, Quote>())
  const readAt = async (placesOf: (run: QuoteRun) => Iterable<number>): Promise<void> => {
    const chosen = blocks.map(() => new Set<string>())
    for (const run of runs) for (const i of placesOf(run)) chosen[i]?.add(run.stable)
    const stablesToRead = blocks.map(({ stables }, i) => {
      const chosenInBlock = chosen[i] as Set<string>
      return stables.filter((stable) => chosenInBlock.has(stable))
    })
    const answers = await read(stablesToRead)
    for (const [i, stables] of stablesToRead.entries())
      for (const [j, stable] of stables.entries()) quotes[i]?.set(stable, answers[i]?.[j] as Quote)
  }
  await readAt(({ first, last }) => [first, last])

  const unlike = new Set<QuoteRun>()
  for (const run of runs) {
    if (run.last - run.first < 2) continue
    const [first, last] = [run.first, run.last].map((i) => quotes[i]?.get(run.stable)) as [Quote, Quote]
    if (!isSame(first, last)) unlike.add(run)
    else for (let i = run.first + 1; i < run.last; i++) quotes[i]?.set(run.stable, first)
  }
  function* between(run: QuoteRun): Generator<number> {
    if (unlike.has(run)) for (let i = run.first + 1; i < run.last; i++) yield i
  }
  if (unlike.size > 0) await readAt(between)
  return quotes
}
