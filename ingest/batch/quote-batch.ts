import type { DepthSample } from '../../clickhouse/depth/depth.js'
import type { Changes } from '../../clickhouse/exchange/books.js'
import type { Exchange } from '../knowledge/exchange.js'
import type { SampledStable } from '../knowledge/registry.js'
import type { Quote } from '../sources/quotes.js'
import { type BookAmount, bookAmountKey } from '../stages/flows.js'
import { isQuoted } from '../stages/sample-peg.js'
import { isDepthDue } from '../stages/states.js'
import type { DecodedBlock } from './decode.js'
import type { MovedBatch } from './read-movements.js'

/** What the exchange's books quote at the end of a block. Stables of which logs contradict each other are missing. */
export type BookQuotes = {
  /** One token of each stable that is sampled. */
  quotes: ReadonlyMap<string, Quote>
  /** Where depth is due. */
  depths: readonly DepthSample[]
  /** What the amounts of unlisted tokens sell for on which values of flows depend, by `bookAmountKey`. */
  values: ReadonlyMap<string, bigint | null>
}

/** A batch with what the books quote at the end of each of its blocks. */
export type QuotedBatch = MovedBatch & {
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
export function quoteBatch(exchange: Exchange, batch: MovedBatch): QuotedBatch {
  exchange.addGenesis(batch.genesis.map(({ stable, quote_token }) => ({ token: stable, quoteToken: quote_token })))
  const contradictions: ContradictingLog[] = []
  const bookQuotes = batch.decoded.map((decoded, i) => {
    const { block, events } = decoded
    for (const log of exchange.apply(block, events, quotedAt(decoded)))
      contradictions.push({ ...log, block_number: block.number })
    const depths = isDepthDue(block) ? exchange.depths(block) : []
    return { quotes: exchange.quotes(), depths, values: valuesAt(exchange, batch.amounts[i] ?? []) }
  })
  return { ...batch, bookQuotes, contradictions }
}

function valuesAt(exchange: Exchange, amounts: readonly BookAmount[]): BookQuotes['values'] {
  const values = new Map<string, bigint | null>()
  for (const amount of amounts) {
    const value = exchange.valueOf(amount)
    if (value !== undefined) values.set(bookAmountKey(amount), value)
  }
  return values
}

/** A batch without the books: the node is asked for every quote. */
export const unquoted = (batch: MovedBatch): QuotedBatch => ({
  ...batch,
  bookQuotes: batch.decoded.map(() => ({ quotes: new Map(), depths: [], values: new Map() })),
  contradictions: [],
})
