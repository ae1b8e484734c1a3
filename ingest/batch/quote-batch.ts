import type { DepthSample } from '../../clickhouse/depth/depth.js'
import type { Changes } from '../../clickhouse/exchange/books.js'
import type { Exchange } from '../knowledge/exchange.js'
import type { SampledStable } from '../knowledge/registry.js'
import type { Quote } from '../sources/quotes.js'
import { isQuoted } from '../stages/sample-peg.js'
import { isDepthDue } from '../stages/states.js'
import type { DecodedBatch, DecodedBlock } from './decode.js'

/** What the exchange's books quote at the end of a block. Stables of which logs contradict each other are missing. */
export type BookQuotes = {
  /** One token of each stable that is sampled. */
  quotes: ReadonlyMap<string, Quote>
  /** Where depth is due. */
  depths: readonly DepthSample[]
}

/** A batch with what the books quote at the end of each of its blocks. */
export type QuotedBatch = DecodedBatch & {
  bookQuotes: readonly BookQuotes[]
  contradictions: readonly ContradictingLog[]
}

/** A log of the exchange that contradicts those before it. */
export type ContradictingLog = Changes['contradictions'][number] & { block_number: number }

const quotedOf = new WeakMap<readonly SampledStable[], WeakMap<ReadonlySet<string>, readonly string[]>>()

/**
 * Those of the stables sampled at a block that the exchange quotes, except those behind too many books. Returns the same list for
 * the same stables.
 */
export function quotedAt({ sampled, tooDeep }: Pick<DecodedBlock, 'sampled' | 'tooDeep'>): readonly string[] {
  const ofSampled = quotedOf.get(sampled) ?? new WeakMap<ReadonlySet<string>, readonly string[]>()
  quotedOf.set(sampled, ofSampled)
  const quoted =
    ofSampled.get(tooDeep) ??
    sampled.filter((stable) => isQuoted(stable) && !tooDeep.has(stable.stable)).map(({ stable }) => stable)
  ofSampled.set(tooDeep, quoted)
  return quoted
}

/** Applies the blocks of a batch to the exchange, which must be as it was before them. */
export function quoteBatch(exchange: Exchange, batch: DecodedBatch): QuotedBatch {
  exchange.addGenesis(batch.genesis.map(({ stable, quote_token }) => ({ token: stable, quoteToken: quote_token })))
  const contradictions: ContradictingLog[] = []
  const bookQuotes = batch.decoded.map((decoded) => {
    const { block, events } = decoded
    for (const log of exchange.apply(block, events, quotedAt(decoded)))
      contradictions.push({ ...log, block_number: block.number })
    return { quotes: exchange.quotes(), depths: isDepthDue(block) ? exchange.depths(block) : [] }
  })
  return { ...batch, bookQuotes, contradictions }
}

/** A batch without the books: the node is asked for every quote. */
export const unquoted = (batch: DecodedBatch): QuotedBatch => ({
  ...batch,
  bookQuotes: batch.decoded.map(() => ({ quotes: new Map(), depths: [] })),
  contradictions: [],
})
