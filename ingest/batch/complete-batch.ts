import { type Facts, factTables, mergeFacts } from '../../clickhouse/facts/facts.js'
import { TABLES } from '../../clickhouse/tables.js'
import type { SampledStable } from '../knowledge/registry.js'
import { persistAt } from '../sources/chain-changed.js'
import { allOf } from '../sources/multicall.js'
import { readRoles } from '../sources/roles.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import { readStates } from '../sources/states.js'
import { dexFills } from '../stages/dex-orders.js'
import { type BookAmount, bookAmountKey, flowsOf, listedPrices } from '../stages/flows.js'
import { genesisStables, roleCandidates } from '../stages/roles.js'
import { samplePeg } from '../stages/sample-peg.js'
import { isDepthDue } from '../stages/states.js'
import { transfersOf } from '../stages/transfers.js'
import { withoutOrder } from '../stages/unknown-events.js'
import { type Agreement, batchQuotes } from './batch-quotes.js'
import { type BatchReader, type DecodedBlock, FIRST_BLOCK } from './decode.js'
import { type ContradictingLog, type QuotedBatch, quotedAt } from './quote-batch.js'
import { listedAmong, readBooks } from './read-movements.js'
import { EVERYTHING, hasEveryStable, hasStable, type Scope, stablesIn } from './scope.js'

/** All facts of a range of blocks in a scope, ready to be written. */
export type Batch = Scope & {
  from: number
  to: number
  firstHash: string
  lastHash: string
  parentHash: string
  firstTime: number
  lastTime: number
  facts: Facts
  /** Whether flows have no value, because the node no longer has the prices. */
  isUnpriced: boolean
  /** How the node's quotes compare with those that were taken; null if there are none. */
  agreement: Agreement | null
  /** The logs of the exchange that contradict those before them. */
  contradictions: readonly ContradictingLog[]
}

/**
 * Reads, at each block, what the logs do not contain, and makes the facts of the scope. Batches may be completed
 * concurrently. If the node no longer has the state, rejects with StateUnavailableError where states are in the scope,
 * or pegs of which the books know nothing; otherwise flows of which they know nothing get no value.
 */
export async function completeBatch(
  reader: BatchReader,
  batch: QuotedBatch,
  scope: Scope = EVERYTHING,
): Promise<Batch> {
  const { genesis, decoded } = batch
  const first = (decoded[0] as DecodedBlock).block
  const last = (decoded.at(-1) as DecodedBlock).block
  const reads = await readAtBlocks(reader, batch, scope)
  const facts = mergeFacts([
    { stablecoins: genesis },
    ...decoded.map((block, i) => factsOf(reader, block, i, reads, scope)),
  ])
  for (const table of factTables) if (!scope.families.includes(TABLES[table].family)) facts[table] = []
  return {
    ...scope,
    from: first.number,
    to: last.number,
    firstHash: first.hash,
    lastHash: last.hash,
    parentHash: first.parentHash,
    firstTime: first.time,
    lastTime: last.time,
    facts,
    isUnpriced: reads.isUnpriced && facts.flows.length > 0,
    agreement: reads.quotes?.agreement ?? null,
    contradictions: batch.contradictions,
  }
}

/**
 * What the logs do not contain, read at each block: lists by the places of the blocks. `quotes` and `books` are null if
 * the node no longer has them and only the values of flows depend on them.
 */
async function readAtBlocks(reader: BatchReader, batch: QuotedBatch, scope: Scope) {
  const { rpc } = reader
  const { decoded } = batch
  const { block: last } = decoded.at(-1) as DecodedBlock
  const [hasPegs, hasState] = [scope.families.includes('pegs'), scope.families.includes('state')]
  const ofEach = <Result>(what: string, read: (block: DecodedBlock, i: number) => Promise<Result>): Promise<Result[]> =>
    persistAt(rpc, what, last, allOf(decoded.map((block, i) => () => read(block, i))))
  const none = async (): Promise<never[]> => []
  let isUnpriced = false
  /** What becomes of values of flows, unless the state is read for others than them too: then all of these fail together. */
  const unpricedUnless =
    (isRead: boolean) =>
    (error: unknown): null => {
      if (isRead || !(error instanceof StateUnavailableError)) throw error
      isUnpriced = true
      return null
    }
  const movements = batch.moved.map((moved) => moved.movements)
  const unreadable = batch.moved.map((moved) => moved.unreadable)
  const valuesOf = (isWanted: (i: number, amount: BookAmount) => boolean) =>
    ofEach('read book values', (block, i) =>
      readBooks(
        reader,
        (batch.amounts[i] ?? []).filter((amount) => isWanted(i, amount)),
        block,
      ),
    ).catch(unpricedUnless(hasState))
  // Flows are valued at their block's prices.
  const stablesPricedIn = ({ sampled }: DecodedBlock, i: number): readonly SampledStable[] =>
    (hasPegs && hasEveryStable(scope)) || movements[i]?.length ? sampled : hasPegs ? stablesIn(scope, sampled) : []
  const priced = decoded.map(stablesPricedIn)
  const quoted = decoded.map(({ tooDeep }, i) => quotedAt({ sampled: priced[i] ?? [], tooDeep }))
  const deep = decoded.map(({ block, sampled, tooDeep }) =>
    hasPegs && isDepthDue(block) ? quotedAt({ sampled: stablesIn(scope, sampled), tooDeep }) : [],
  )
  // All begin in one turn, so that what they ask about a block is one call.
  const [quotes, unknownValues, states, roles] = await Promise.all([
    batchQuotes(reader, batch, { priced: quoted, deep }).catch(unpricedUnless(hasPegs)),
    valuesOf((i, amount) => batch.bookQuotes[i]?.values.has(bookAmountKey(amount)) === false),
    ofEach('read states', ({ block, touched }) =>
      readStates(rpc, hasState ? touched.filter((stable) => hasStable(scope, stable)) : [], block),
    ),
    ofEach('read roles', ({ block, events, sampled }) =>
      hasState
        ? readRoles(
            rpc,
            genesisStables(stablesIn(scope, sampled)),
            roleCandidates(block.number, events, sampled),
            block,
          )
        : none(),
    ),
  ])
  const isRight = !quotes || quotes.agreement.differences.length === 0
  const values = isRight ? unknownValues : await valuesOf(() => true)
  const books = values && decoded.map((_, i) => new Map([...(batch.bookQuotes[i]?.values ?? []), ...(values[i] ?? [])]))
  return { movements, unreadable, priced, quotes, books, states, roles, isUnpriced }
}

/** The facts of a batch's block at place `i`; those of other families than the scope's may be among them. */
function factsOf(
  { orders, registry }: BatchReader,
  { block, events, facts, sampled, tooDeep }: DecodedBlock,
  i: number,
  { movements, unreadable, priced, quotes, books, states, roles }: Awaited<ReturnType<typeof readAtBlocks>>,
  scope: Scope,
): Partial<Facts> {
  const samples = samplePeg(
    block,
    quotes ? (priced[i] ?? []) : [],
    quotes?.quotes[i] ?? new Map(),
    tooDeep,
    FIRST_BLOCK,
  )
  return {
    ...facts,
    state_reads: states[i] ?? [],
    peg_samples: samples.filter(({ stable }) => hasStable(scope, stable)),
    depth_samples: [...(quotes?.depths[i] ?? [])],
    role_probes: roles[i] ?? [],
    transfers: scope.families.includes('transfers') ? transfersOf(block, facts, registry.has) : [],
    unknown_events: [...(facts.unknown_events ?? []), ...withoutOrder(block, unreadable[i] ?? [])],
    dex_fills: scope.families.includes('logs')
      ? dexFills(
          block,
          events.filter((event) => !unreadable[i]?.includes(event)),
          orders.termsOf,
        )
      : [],
    flows: flowsOf(block, movements[i] ?? [], {
      listed: quotes ? listedPrices(samples, listedAmong(sampled)) : new Map(),
      books: books?.[i] ?? new Map(),
    }),
  }
}
