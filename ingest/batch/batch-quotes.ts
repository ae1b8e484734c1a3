import { isDeepStrictEqual } from 'node:util'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import type { SampledStable } from '../knowledge/registry.js'
import { persistAt } from '../sources/chain-changed.js'
import { allOf } from '../sources/multicall.js'
import { type Quote, readAnswers, readDepths } from '../sources/quotes.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import type { BatchReader, DecodedBlock } from './decode.js'
import type { BookQuotes, QuotedBatch } from './quote-batch.js'

type BatchQuotes = {
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
  { decoded, bookQuotes }: Pick<QuotedBatch, 'decoded' | 'bookQuotes'>,
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
    nodeQuotes(reader, decoded, among(priced, isChecked), 'what it answers'),
    nodeDepths(reader, decoded, among(deep, isChecked), 'what it answers'),
  ])
  const agreement = agreementOf(decoded, bookQuotes, { quotes: quotesCompared, depths: depthsCompared })
  const isRight = agreement.differences.length === 0
  const [quotes, depths] = isRight
    ? [[], []]
    : await Promise.all([
        nodeQuotes(reader, decoded, among(priced, isInBooks), 'what it answers'),
        nodeDepths(reader, decoded, among(deep, isInBooks), 'what it answers'),
      ])
  return {
    quotes: decoded.map((_, i) => merged(ofBooks[i] as ReadonlyMap<string, Quote>, quotesUnknown[i], quotes[i])),
    depths: decoded.map((_, i) => [
      ...merged(byStableAndSize(wantedDepths(i)), byStableAndSize(depths[i] ?? [])).values(),
      ...(depthsUnknown[i] ?? []),
    ]),
    agreement,
  }
}

/** The entries of all maps; of a key in several, the last one's. The first map itself if the others have none. */
function merged<Value>(
  first: ReadonlyMap<string, Value>,
  ...others: ReadonlyArray<ReadonlyMap<string, Value> | undefined>
): ReadonlyMap<string, Value> {
  const filled = others.filter((map) => map !== undefined && map.size > 0)
  return filled.length === 0 ? first : new Map([first, ...filled].flatMap((map) => [...(map ?? [])]))
}

const byStableAndSize = (depths: readonly DepthSample[]): Map<string, DepthSample> =>
  new Map(depths.map((depth) => [`${depth.stable} ${depth.size_tokens}`, depth]))

/** How the quotes of the books compare with those that were read of each block. */
function agreementOf(
  decoded: readonly DecodedBlock[],
  bookQuotes: readonly BookQuotes[],
  ofNode: { quotes: ReadonlyArray<ReadonlyMap<string, Quote>>; depths: ReadonlyArray<readonly DepthSample[]> },
): Agreement {
  const counts = { blocks: 0, quotes: 0 }
  const differences: Array<Agreement['differences'][number]> = []
  for (const [i, { block }] of decoded.entries()) {
    const { quotes, depths } = bookQuotes[i] as BookQuotes
    const ofBooks = byStableAndSize(depths)
    const answers = [
      ...[...(ofNode.quotes[i] ?? [])].map(([stable, quote]) => ({
        stable,
        isSame: isDeepStrictEqual(quote, quotes.get(stable)),
      })),
      ...[...byStableAndSize(ofNode.depths[i] ?? [])].map(([key, depth]) => ({
        stable: depth.stable,
        isSame: isDeepStrictEqual(depth, ofBooks.get(key)),
      })),
    ]
    if (answers.length > 0) counts.blocks++
    counts.quotes += answers.length
    for (const { stable, isSame } of answers) if (!isSame) differences.push({ block_number: block.number, stable })
  }
  return { ...counts, differences }
}

/** Which of the node's quotes are wanted: all, or those that it has the state and the gas for. */
type Wish = 'all of it' | 'what it answers'

/**
 * What the node quotes for these stables at the end of each block. Rejects with StateUnavailableError if all of it is wanted and the
 * node no longer has a state.
 */
function nodeQuotes(
  { rpc }: Pick<BatchReader, 'rpc'>,
  decoded: readonly DecodedBlock[],
  stablesOf: ReadonlyArray<readonly string[]>,
  wish: Wish = 'all of it',
): Promise<Map<string, Quote>[]> {
  const reads = stablesOf.map((stables, i) => async () => {
    const answers = await readAnswers(rpc, stables, (decoded[i] as DecodedBlock).block).catch(orNone(wish))
    return new Map(
      answers.flatMap(({ quote, isAnswered }, j) =>
        isAnswered || wish === 'all of it' ? [[stables[j] as string, quote] as const] : [],
      ),
    )
  })
  return persistAt(rpc, 'read quotes', newestOf(decoded), allOf(reads))
}

/** The depths of these stables at the end of each block, as the node quotes them; else as `nodeQuotes`. */
function nodeDepths(
  { rpc, readsAtAnyCost = false }: Pick<BatchReader, 'rpc' | 'readsAtAnyCost'>,
  decoded: readonly DecodedBlock[],
  stablesOf: ReadonlyArray<readonly string[]>,
  wish: Wish = 'all of it',
): Promise<Array<readonly DepthSample[]>> {
  const reads = stablesOf.map((stables, i) => async () => {
    const { block, sampled } = decoded[i] as DecodedBlock
    if (stables.length === 0) return []
    const unlisted = readsAtAnyCost ? new Set<string>() : unlistedAmong(sampled)
    const options = { unlisted, onlyAnswered: wish === 'what it answers' }
    return readDepths(rpc, stables, block, options).catch(orNone(wish))
  })
  return persistAt(rpc, 'read depths', newestOf(decoded), allOf(reads))
}

/** What becomes of an error: nothing is read if the node no longer has the state, unless all of it is wanted. */
const orNone =
  (wish: Wish) =>
  (error: unknown): never[] => {
    if (wish === 'what it answers' && error instanceof StateUnavailableError) return []
    throw error
  }

const newestOf = (decoded: readonly DecodedBlock[]): DecodedBlock['block'] => (decoded.at(-1) as DecodedBlock).block

/** Those of the sampled stables that are not on the token list. */
const unlistedAmong = (sampled: readonly SampledStable[]): ReadonlySet<string> =>
  new Set(sampled.filter(({ tier }) => tier === 'unlisted').map(({ stable }) => stable))
