import { isDeepStrictEqual } from 'node:util'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import type { SampledStable } from '../knowledge/registry.js'
import { persistAt } from '../sources/chain-changed.js'
import { allOf } from '../sources/multicall.js'
import { type Quote, readDepths, readQuotes } from '../sources/quotes.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import type { BatchReader, DecodedBlock } from './decode.js'
import type { BookQuotes, QuotedBatch } from './quote-batch.js'

export type BatchQuotes = {
  /** The quotes of each block, by stable. */
  quotes: ReadonlyArray<ReadonlyMap<string, Quote>>
  /** The depths of each block. */
  depths: ReadonlyArray<readonly DepthSample[]>
  agreement: Agreement
}

/** How what the books and the node quote compares. */
export type Agreement = {
  /** At how many blocks, and how many quotes, both were read. */
  blocks: number
  quotes: number
  /** The quotes that are not the same. If there is one, those of the node are taken in the whole batch. */
  differences: ReadonlyArray<{ block_number: number; stable: string }>
}

/** Whether a quote of the books is that of the node. */
const isSame = (a: Quote, b: Quote): boolean =>
  a.status === b.status && a.sellMicros === b.sellMicros && a.buyMicros === b.buyMicros

/** The contracts whose events decide what the exchange quotes; `factory`: which tokens there are. */
const DECISIVE: ReadonlySet<string> = new Set(['exchange', 'token', 'factory'])

/** Whether a block has an event that may change what the exchange quotes in a way that this version does not know. */
const hasUnknownEvent = ({ facts }: DecodedBlock): boolean =>
  (facts.unknown_events ?? []).some(({ emitter }) => DECISIVE.has(emitter))

/** Whether a block is among a share of all, which depends on its hash alone. */
const isAmong = (share: number, { block }: DecodedBlock): boolean =>
  Number.parseInt(block.hash.slice(2, 10), 16) < share * 2 ** 32

/** Of each block of a batch, by its place: the stables whose price of one token is wanted, and those whose depth is. */
type Wanted = {
  priced: ReadonlyArray<readonly string[]>
  deep: ReadonlyArray<readonly string[]>
}

/**
 * The quotes of each block of a batch, as the exchange's books give them. At the last block, at those with an event that is not
 * understood, and at a share of the others the node is asked too: if it answers otherwise, the rules of the exchange are not
 * what this version takes them for, and the node's quotes of all blocks are taken. So are those of stables that the books do not
 * know. Rejects with StateUnavailableError if the node no longer has a state that is needed; the comparison alone does not
 * need it.
 */
export async function batchQuotes(
  reader: Pick<BatchReader, 'rpc' | 'quotesCompared' | 'readsAtAnyCost'>,
  { decoded, bookQuotes }: QuotedBatch,
  { priced, deep }: Wanted,
): Promise<BatchQuotes> {
  const ofBooks = bookQuotes.map(({ quotes }) => quotes)
  const among = (lists: Wanted['priced'], isWanted: (i: number, stable: string) => boolean): string[][] =>
    lists.map((stables, i) => stables.filter((stable) => isWanted(i, stable)))
  const isInBooks = (i: number, stable: string): boolean => ofBooks[i]?.has(stable) === true
  const wantedDepths = (i: number): DepthSample[] => {
    const wanted = new Set(deep[i])
    return (bookQuotes[i] as BookQuotes).depths.filter(({ stable }) => wanted.has(stable))
  }
  const isCompared = decoded.map(
    (block, i) => i === decoded.length - 1 || hasUnknownEvent(block) || isAmong(reader.quotesCompared, block),
  )
  const isChecked = (i: number, stable: string): boolean => isCompared[i] === true && isInBooks(i, stable)
  const isUnknown = (i: number, stable: string): boolean => !isInBooks(i, stable)
  // All begin in one turn, so that what they ask about a block is one call.
  const [quotesUnknown, depthsUnknown, quotesCompared, depthsCompared] = await Promise.all([
    nodeQuotes(reader, decoded, among(priced, isUnknown)),
    nodeDepths(reader, decoded, among(deep, isUnknown)),
    nodeQuotes(reader, decoded, among(priced, isChecked), []),
    nodeDepths(reader, decoded, among(deep, isChecked), []),
  ])
  const agreement = agreementOf(decoded, bookQuotes, { quotes: quotesCompared, depths: depthsCompared })
  if (agreement.differences.length > 0) {
    // Of blocks whose state the node does not have any more, those of the books are left.
    const [quotes, depths] = await Promise.all([
      nodeQuotes(reader, decoded, priced, []),
      nodeDepths(reader, decoded, deep, []),
    ])
    return {
      quotes: quotes.map((ofBlock, i) => new Map([...(ofBooks[i] ?? []), ...ofBlock])),
      depths: depths.map((ofBlock, i) => (ofBlock.length > 0 ? ofBlock : wantedDepths(i))),
      agreement,
    }
  }
  const quotes = ofBooks.map((quotes, i) => {
    const unknown = quotesUnknown[i] as ReadonlyMap<string, Quote>
    return unknown.size === 0 ? quotes : new Map([...quotes, ...unknown])
  })
  const depths = decoded.map((_, i) => [...wantedDepths(i), ...(depthsUnknown[i] ?? [])])
  return { quotes, depths, agreement }
}

/** How the quotes of the books compare with those that were read of each block. */
function agreementOf(
  decoded: readonly DecodedBlock[],
  bookQuotes: readonly BookQuotes[],
  ofNode: { quotes: ReadonlyArray<ReadonlyMap<string, Quote>>; depths: ReadonlyArray<readonly DepthSample[]> },
): Agreement {
  const counts = { blocks: 0, quotes: 0 }
  const differences: Array<Agreement['differences'][number]> = []
  for (const [i, { block, sampled }] of decoded.entries()) {
    const { quotes, depths } = bookQuotes[i] as BookQuotes
    const unlisted = unlistedAmong(sampled)
    const answers = [
      ...[...(ofNode.quotes[i] ?? [])].map(([stable, quote]) => ({
        stable,
        isSame: isSame(quote, quotes.get(stable) as Quote),
      })),
      // Where a stranger's books take more gas than they are given, the node has not answered.
      ...(ofNode.depths[i] ?? [])
        .filter(
          ({ stable, sell_status, buy_status }) =>
            !unlisted.has(stable) || ![sell_status, buy_status].includes('failed'),
        )
        .map((depth) => ({ stable: depth.stable, isSame: depths.some((other) => isDeepStrictEqual(depth, other)) })),
    ]
    if (answers.length > 0) counts.blocks++
    counts.quotes += answers.length
    for (const { stable, isSame } of answers) if (!isSame) differences.push({ block_number: block.number, stable })
  }
  return { ...counts, differences }
}

/**
 * What the node quotes for these stables at the end of each block; `unavailable` are the quotes of a block whose state it no longer
 * has. If omitted, rejects with StateUnavailableError.
 */
function nodeQuotes(
  { rpc }: Pick<BatchReader, 'rpc'>,
  decoded: readonly DecodedBlock[],
  stablesOf: ReadonlyArray<readonly string[]>,
  unavailable?: readonly [],
): Promise<Map<string, Quote>[]> {
  const reads = stablesOf.map((stables, i) => async () => {
    const answers = await readQuotes(rpc, stables, (decoded[i] as DecodedBlock).block).catch(orUnavailable(unavailable))
    return new Map(answers.map((quote, j) => [stables[j] as string, quote]))
  })
  return persistAt(rpc, 'read quotes', newestOf(decoded), allOf(reads))
}

/** The depths of these stables at the end of each block, as the node quotes them; `unavailable` as in `nodeQuotes`. */
function nodeDepths(
  { rpc, readsAtAnyCost = false }: Pick<BatchReader, 'rpc' | 'readsAtAnyCost'>,
  decoded: readonly DecodedBlock[],
  stablesOf: ReadonlyArray<readonly string[]>,
  unavailable?: readonly [],
): Promise<Array<readonly DepthSample[]>> {
  const reads = stablesOf.map((stables, i) => async () => {
    const { block, sampled } = decoded[i] as DecodedBlock
    return stables.length === 0
      ? []
      : readDepths(rpc, stables, block, readsAtAnyCost ? new Set() : unlistedAmong(sampled)).catch(
          orUnavailable(unavailable),
        )
  })
  return persistAt(rpc, 'read depths', newestOf(decoded), allOf(reads))
}

/** What becomes of an error: `unavailable` if the node no longer has the state. */
const orUnavailable =
  (unavailable: readonly [] | undefined) =>
  (error: unknown): readonly [] => {
    if (unavailable && error instanceof StateUnavailableError) return unavailable
    throw error
  }

const newestOf = (decoded: readonly DecodedBlock[]): DecodedBlock['block'] => (decoded.at(-1) as DecodedBlock).block

/** Those of the sampled stables that are not on the token list. */
const unlistedAmong = (sampled: readonly SampledStable[]): ReadonlySet<string> =>
  new Set(sampled.filter(({ tier }) => tier === 'unlisted').map(({ stable }) => stable))
