import type { Block } from '../clickhouse/tables/blocks.js'
import { FACT_TABLES, type Facts, factTables, mergeFacts } from '../clickhouse/tables/facts.js'
import type { Stablecoin } from '../clickhouse/tables/stablecoins.js'
import { GENESIS_TOKENS } from './chain/addresses.js'
import { type ChainEvent, decodeLog } from './chain/events.js'
import type { Orders } from './orders.js'
import type { Registry } from './registry.js'
import { EVERYTHING, hasEveryStable, hasStable, type Scope, stablesIn } from './scope.js'
import { allOf } from './sources/all-of.js'
import type { BlockWithLogs } from './sources/blocks.js'
import { persistAt } from './sources/chain-changed.js'
import { readDepths } from './sources/depths.js'
import { type Quote, readQuotes } from './sources/quotes.js'
import { readRoles } from './sources/roles.js'
import type { Rpc } from './sources/rpc.js'
import { StateUnavailableError } from './sources/state-unavailable.js'
import { readStates } from './sources/states.js'
import { describeTokens } from './sources/tokens.js'
import { isDepthDue, isStateDue } from './stages/cadence.js'
import { type Catalogue, catalogue } from './stages/catalogue.js'
import { SwapDecodeError } from './stages/decode-swaps.js'
import { dexFills } from './stages/dex-orders.js'
import { logFacts } from './stages/log-facts.js'
import { genesisStables, roleCandidates } from './stages/role-candidates.js'
import { isQuoted, samplePeg } from './stages/sample-peg.js'
import { hasFlows, swapFlows } from './stages/swap-flows.js'
import { touchedStates } from './stages/touched-states.js'

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
  /** Whether flows lack their value, because the node no longer has the prices. */
  isUnpriced: boolean
}

/** What reading a batch needs. `registry` and `orders` learn from each batch, so batches are decoded in order. */
export type BatchReader = { rpc: Rpc; registry: Registry; orders: Orders; listed: ReadonlySet<string> }

/** The block in which a chain's history begins: the genesis block has no transactions and no state of its own. */
export const FIRST_BLOCK = 1

/** The stables that were there before the first transaction. They have no logs, so the node is asked. */
export async function genesisStablecoins(
  { rpc, listed }: Pick<BatchReader, 'rpc' | 'listed'>,
  first: Pick<BlockWithLogs, 'number' | 'hash' | 'parentTime'>,
): Promise<Stablecoin[]> {
  const tokens = await persistAt(rpc, 'read the genesis tokens', first, () =>
    describeTokens(rpc, GENESIS_TOKENS, first),
  )
  return tokens.map(({ quoteToken: quote_token, ...token }, log_index) => ({
    ...token,
    quote_token,
    admin: '',
    tier: listed.has(token.stable) ? 'listed' : 'unlisted',
    block_number: 0,
    log_index,
    block_time: first.parentTime,
    tx_hash: '',
  }))
}

const blockRow = (block: BlockWithLogs): Block => ({
  block_number: block.number,
  block_time: block.time,
  block_hash: block.hash,
  parent_hash: block.parentHash,
  tx_count: block.txCount,
  log_count: block.logs.length,
})

/** A block with its decoded logs, the facts they state by themselves, the stables to quote and those whose state to read. */
type DecodedBlock = {
  block: BlockWithLogs
  events: ChainEvent[]
  facts: Partial<Facts>
  sampled: readonly Stablecoin[]
  touched: string[]
}

/** A range of blocks with all that their logs tell. */
export type DecodedBatch = { genesis: Stablecoin[]; decoded: DecodedBlock[] }

/**
 * Decodes blocks that follow the ones decoded before: what a block's logs mean, and which stables exist in it, depends
 * on all logs before it.
 */
export async function decodeBatch(reader: BatchReader, blocks: readonly BlockWithLogs[]): Promise<DecodedBatch> {
  const { registry, orders, listed } = reader
  const first = blocks[0] as BlockWithLogs
  const genesis = first.number === FIRST_BLOCK ? await genesisStablecoins(reader, first) : []
  genesis.forEach(registry.add)

  const quoteTokenOf = (stable: string): string => {
    const quote = registry.quoteTokenOf(stable)
    if (quote === undefined) throw new SwapDecodeError(`an order for ${stable}, which the factory has not made`)
    return quote
  }
  const decoded = blocks.map((block) => {
    const events = eventsOf(block)
    const added = catalogue(block, events, listed, quoteTokenOf)
    for (const stable of added.stablecoins) registry.add({ ...stable })
    for (const { stable, quote_token } of added.quote_token_updates) registry.setQuoteToken(stable, quote_token)
    for (const order of added.dex_orders) orders.place(BigInt(order.order_id), order)
    for (const flip of added.dex_order_flips) orders.flip(BigInt(flip.order_id), flip)
    return decodeBlock(registry, block, events, added, block === first ? genesis : [])
  })
  return { genesis, decoded }
}

/** Decodes blocks of which the catalogue is in and known to `registry`, whatever was decoded before. */
export function decodeOldBatch({ registry, listed }: BatchReader, blocks: readonly BlockWithLogs[]): DecodedBatch {
  const decoded = blocks.map((block) => {
    const events = eventsOf(block)
    const genesis = block.number === FIRST_BLOCK ? registry.genesis() : []
    // What an order is quoted in is in the catalogue; here it only counts that there is one.
    return decodeBlock(
      registry,
      block,
      events,
      catalogue(block, events, listed, () => ''),
      genesis,
    )
  })
  return { genesis: [], decoded }
}

const eventsOf = (block: BlockWithLogs): ChainEvent[] => block.logs.map(decodeLog).filter((event) => event !== null)

function decodeBlock(
  registry: Registry,
  block: BlockWithLogs,
  events: ChainEvent[],
  added: Catalogue,
  genesis: readonly Stablecoin[],
): DecodedBlock {
  const sampled = registry.sampledAt(block.number)
  const { stables, policies } = touchedStates(events)
  const seen = new Set([...stables, ...genesis.map(({ stable }) => stable)])
  const all = policies || isStateDue(block) ? sampled.map(({ stable }) => stable) : []
  const touched = [...new Set([...all, ...[...seen].filter(registry.has)])]
  const facts = { ...added, ...logFacts(block, events), blocks: [blockRow(block)] }
  return { block, events, facts, sampled, touched }
}

/**
 * Reads what the logs do not tell, at each block, and makes the facts of the scope. Batches may be completed side by
 * side. Rejects with StateUnavailableError where the node no longer has what pegs and state are read from; flows are
 * without a value then.
 */
export async function completeBatch(
  { rpc, orders }: BatchReader,
  { genesis, decoded }: DecodedBatch,
  scope: Scope = EVERYTHING,
): Promise<Batch> {
  const first = (decoded[0] as DecodedBlock).block
  const last = (decoded.at(-1) as DecodedBlock).block
  const [hasLogs, hasPegs, hasState] = (['logs', 'pegs', 'state'] as const).map((name) => scope.families.includes(name))
  const filled = decoded.flatMap(({ events }) =>
    events.flatMap((event) => (hasLogs && event.name === 'OrderFilled' ? [event.args.orderId] : [])),
  )
  const ofEach = <Result>(what: string, read: (block: DecodedBlock) => Promise<Result[]>): Promise<Result[][]> =>
    persistAt(rpc, what, last, allOf(decoded.map((block) => () => read(block))))
  const none = async (): Promise<never[]> => []
  // Flows are valued at their block's prices.
  const pricedIn = ({ events, sampled }: DecodedBlock): readonly Stablecoin[] =>
    (hasPegs && hasEveryStable(scope)) || (hasLogs && hasFlows(events))
      ? sampled
      : hasPegs
        ? stablesIn(scope, sampled)
        : []
  let isUnpriced = false
  const [quotes, depths, states, roles] = await Promise.all([
    ofEach('read quotes', (decodedBlock) =>
      readQuotes(rpc, quotedOf(pricedIn(decodedBlock)), decodedBlock.block),
    ).catch((error: unknown) => {
      if (hasPegs || !(error instanceof StateUnavailableError)) throw error
      isUnpriced = true
      return null
    }),
    ofEach('read depths', ({ block, sampled }) =>
      hasPegs && isDepthDue(block) ? readDepths(rpc, quotedOf(stablesIn(scope, sampled)), block) : none(),
    ),
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
    orders.load(filled),
  ])
  const samples = decoded.map(({ block }, i) => {
    const stables = quotes ? pricedIn(decoded[i] as DecodedBlock) : []
    const quoteOf = new Map(quotedOf(stables).map((stable, j) => [stable, quotes?.[i]?.[j] as Quote]))
    return samplePeg(block, stables, quoteOf, FIRST_BLOCK)
  })
  const facts = mergeFacts([
    { stablecoins: genesis },
    ...decoded.map(({ block, events, facts }, i) => ({
      ...facts,
      state_reads: states[i] ?? [],
      peg_samples: (samples[i] ?? []).filter(({ stable }) => hasStable(scope, stable)),
      depth_samples: depths[i] ?? [],
      role_probes: roles[i] ?? [],
      dex_fills: hasLogs ? dexFills(block, events, orders.termsOf) : [],
      flows: hasLogs ? swapFlows(block, events, orders.termsOf, samples[i] ?? []) : [],
    })),
  ])
  for (const table of factTables) if (!scope.families.includes(FACT_TABLES[table].family)) facts[table] = []
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
    isUnpriced: isUnpriced && facts.flows.length > 0,
  }
}

const quotedAmong = new WeakMap<readonly Stablecoin[], readonly string[]>()

/** Those of the sampled stables that the DEX is asked about: one array for the same stables, whose requests are kept. */
function quotedOf(sampled: readonly Stablecoin[]): readonly string[] {
  const quoted = quotedAmong.get(sampled) ?? sampled.filter(isQuoted).map(({ stable }) => stable)
  quotedAmong.set(sampled, quoted)
  return quoted
}
