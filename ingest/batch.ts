import type { Block } from '../clickhouse/tables/blocks.js'
import { type Facts, mergeFacts } from '../clickhouse/tables/facts.js'
import type { Stablecoin } from '../clickhouse/tables/stablecoins.js'
import { GENESIS_TOKENS } from './chain/addresses.js'
import { type ChainEvent, decodeLog } from './chain/events.js'
import type { Orders } from './orders.js'
import type { Registry } from './registry.js'
import { allOf } from './sources/all-of.js'
import type { BlockWithLogs } from './sources/blocks.js'
import { persistAt } from './sources/chain-changed.js'
import { readDepths } from './sources/depths.js'
import { type Quote, readQuotes } from './sources/quotes.js'
import { readRoles } from './sources/roles.js'
import type { Rpc } from './sources/rpc.js'
import { readStates } from './sources/states.js'
import { describeTokens } from './sources/tokens.js'
import { isDepthDue, isStateDue } from './stages/cadence.js'
import { catalogue } from './stages/catalogue.js'
import { SwapDecodeError } from './stages/decode-swaps.js'
import { dexFills } from './stages/dex-orders.js'
import { logFacts } from './stages/log-facts.js'
import { genesisStables, roleCandidates } from './stages/role-candidates.js'
import { isQuoted, samplePeg } from './stages/sample-peg.js'
import { swapFlows } from './stages/swap-flows.js'
import { touchedStates } from './stages/touched-states.js'

/** All facts of a range of blocks, ready to be written. */
export type Batch = {
  from: number
  to: number
  firstHash: string
  lastHash: string
  parentHash: string
  firstTime: number
  lastTime: number
  facts: Facts
}

/** What reading a batch needs. `registry` and `orders` learn from each batch, so batches are decoded in order. */
export type BatchReader = { rpc: Rpc; registry: Registry; orders: Orders; listed: ReadonlySet<string> }

/** The block in which a chain's history begins: the genesis block has no transactions and no state of its own. */
export const FIRST_BLOCK = 1

/** The stables that were there before the first transaction. They have no logs, so the node is asked. */
async function genesisStablecoins({ rpc, listed }: BatchReader, first: BlockWithLogs): Promise<Stablecoin[]> {
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
    const events = block.logs.map(decodeLog).filter((event) => event !== null)
    const added = catalogue(block, events, listed, quoteTokenOf)
    for (const stable of added.stablecoins) registry.add({ ...stable })
    for (const { stable, quote_token } of added.quote_token_updates) registry.setQuoteToken(stable, quote_token)
    for (const order of added.dex_orders) orders.place(BigInt(order.order_id), order)
    for (const flip of added.dex_order_flips) orders.flip(BigInt(flip.order_id), flip)
    const sampled = registry.sampledAt(block.number)
    const { stables, policies } = touchedStates(events)
    const seen = new Set([...stables, ...(block === first ? genesis.map(({ stable }) => stable) : [])])
    const all = policies || isStateDue(block) ? sampled.map(({ stable }) => stable) : []
    const touched = [...new Set([...all, ...[...seen].filter(registry.has)])]
    return {
      block,
      events,
      facts: { ...added, ...logFacts(block, events), blocks: [blockRow(block)] },
      sampled,
      touched,
    }
  })
  return { genesis, decoded }
}

/** Reads what the logs do not tell, at each block, and makes all the facts. Batches may be completed side by side. */
export async function completeBatch({ rpc, orders }: BatchReader, { genesis, decoded }: DecodedBatch): Promise<Batch> {
  const first = (decoded[0] as DecodedBlock).block
  const last = (decoded.at(-1) as DecodedBlock).block
  const filled = decoded.flatMap(({ events }) =>
    events.flatMap((event) => (event.name === 'OrderFilled' ? [event.args.orderId] : [])),
  )
  const ofEach = <Result>(what: string, read: (block: DecodedBlock) => Promise<Result>): Promise<Result[]> =>
    persistAt(rpc, what, last, allOf(decoded.map((block) => () => read(block))))
  const [quotes, depths, states, roles] = await Promise.all([
    ofEach('read quotes', ({ block, sampled }) => readQuotes(rpc, quotedOf(sampled), block)),
    ofEach('read depths', async ({ block, sampled }) =>
      isDepthDue(block) ? readDepths(rpc, quotedOf(sampled), block) : [],
    ),
    ofEach('read states', ({ block, touched }) => readStates(rpc, touched, block)),
    ofEach('read roles', ({ block, events, sampled }) =>
      readRoles(rpc, genesisStables(sampled), roleCandidates(block.number, events, sampled), block),
    ),
    orders.load(filled),
  ])
  const samples = decoded.map(({ block, sampled }, i) =>
    samplePeg(
      block,
      sampled,
      new Map(quotedOf(sampled).map((stable, j) => [stable, quotes[i]?.[j] as Quote])),
      FIRST_BLOCK,
    ),
  )
  return {
    from: first.number,
    to: last.number,
    firstHash: first.hash,
    lastHash: last.hash,
    parentHash: first.parentHash,
    firstTime: first.time,
    lastTime: last.time,
    facts: mergeFacts([
      { stablecoins: genesis },
      ...decoded.map(({ block, events, facts }, i) => ({
        ...facts,
        state_reads: states[i] ?? [],
        role_probes: roles[i] ?? [],
        peg_samples: samples[i] ?? [],
        depth_samples: depths[i] ?? [],
        dex_fills: dexFills(block, events, orders.termsOf),
        flows: swapFlows(block, events, orders.termsOf, samples[i] ?? []),
      })),
    ]),
  }
}

const quotedAmong = new WeakMap<readonly Stablecoin[], readonly string[]>()

/** Those of the sampled stables that the DEX is asked about: one array for the same stables, whose requests are kept. */
function quotedOf(sampled: readonly Stablecoin[]): readonly string[] {
  const quoted = quotedAmong.get(sampled) ?? sampled.filter(isQuoted).map(({ stable }) => stable)
  quotedAmong.set(sampled, quoted)
  return quoted
}
