import type { Block } from '../../clickhouse/chain/blocks.js'
import type { UnknownEvent } from '../../clickhouse/chain/unknown-events.js'
import type { Facts } from '../../clickhouse/facts/facts.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import type { ChainEvent } from '../chain/event-types.js'
import { decodeLog } from '../chain/events.js'
import type { IssuerRoles } from '../knowledge/issuer-roles.js'
import type { Orders } from '../knowledge/orders.js'
import { createPolicyUses, type PolicyUses } from '../knowledge/policy-uses.js'
import type { Registry, SampledStable } from '../knowledge/registry.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { persistAt } from '../sources/chain-changed.js'
import type { Rpc } from '../sources/rpc.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import { readPolicyIds } from '../sources/states.js'
import { bridgeMovements } from '../stages/bridges.js'
import { type Catalogue, catalogueRows } from '../stages/catalogue-rows.js'
import { logFacts } from '../stages/facts.js'
import type { Movement } from '../stages/flows.js'
import { isStateDue, touchedStates } from '../stages/states.js'
import { unknownEvents, withoutOrder } from '../stages/unknown-events.js'
import { genesisStablecoins } from './genesis-stablecoins.js'

/** What reading a batch needs. */
export type BatchReader = {
  rpc: Rpc
  registry: Registry
  orders: Orders
  issuers: IssuerRoles
  /** The share of blocks at which the node is asked for quotes that the exchange's books give; 0..1. */
  quotesCompared: number
  /** Whether strangers may make a read of depth as dear as they like; false if omitted. */
  readsAtAnyCost?: boolean
}

/** What reading batches in order needs: `registry`, `orders`, `issuers` and `policies` learn from each of them. */
export type OrderedReader = BatchReader & { policies: PolicyUses }

/** The block in which a chain's history begins: the genesis block has no transactions and no state of its own. */
export const FIRST_BLOCK = 1

const blockRow = (block: BlockWithLogs): Block => ({
  block_number: block.number,
  block_time: block.time,
  block_hash: block.hash,
  parent_hash: block.parentHash,
  tx_count: block.txCount,
  log_count: block.logs.length,
})

/**
 * A block with its decoded logs, the facts that follow from them alone, the stables to quote and those whose state to
 * read.
 */
export type DecodedBlock = {
  block: BlockWithLogs
  events: ChainEvent[]
  /** Movements between chains. */
  bridged: Movement[]
  facts: Partial<Facts>
  sampled: readonly SampledStable[]
  /** Those of the sampled stables that are too many books away from the reference stable to be quoted. */
  tooDeep: ReadonlySet<string>
  touched: string[]
}

/** A range of blocks with everything that their logs contain. */
export type DecodedBatch = { genesis: Stablecoin[]; decoded: DecodedBlock[] }

/**
 * Decodes blocks that directly follow those decoded before: the meaning of a block's logs, and the stables that exist
 * in it, depend on all earlier logs.
 */
export async function decodeBatch(reader: OrderedReader, blocks: readonly BlockWithLogs[]): Promise<DecodedBatch> {
  const { registry, orders, issuers } = reader
  const first = blocks[0] as BlockWithLogs
  const genesis = first.number === FIRST_BLOCK ? await genesisStablecoins(reader.rpc, first) : []
  genesis.forEach(registry.add)

  const decoded: DecodedBlock[] = []
  for (const block of blocks) {
    const { events, unknown } = eventsOf(block)
    const { unplaced, ...added } = catalogueRows(block, events, registry.quoteTokenOf)
    unknown.push(...withoutOrder(block, unplaced))
    for (const stable of added.stablecoins) registry.add({ ...stable })
    for (const { stable, quote_token } of added.quote_token_updates)
      registry.setQuoteToken(stable, quote_token, block.number)
    for (const { base: stable, block_number, block_time } of added.dex_pairs)
      registry.openBook({ stable, block_number, block_time })
    for (const order of added.dex_orders) orders.place(BigInt(order.order_id), order)
    for (const flip of added.dex_order_flips) orders.flip(BigInt(flip.order_id), flip)
    issuers.learn(added.role_events)
    decoded.push(await decodeBlock(reader, block, { events, unknown, added }, block === first ? genesis : []))
  }
  return { genesis, decoded }
}

/** Decodes blocks whose catalogue is stored and known to `registry`, independently of what was decoded before. */
export async function decodeOldBatch(reader: BatchReader, blocks: readonly BlockWithLogs[]): Promise<DecodedBatch> {
  const { registry } = reader
  const policies = createPolicyUses()
  const decoded: DecodedBlock[] = []
  for (const block of blocks) {
    const { events, unknown } = eventsOf(block)
    const genesis = block.number === FIRST_BLOCK ? registry.genesis() : []
    // The catalogue has the order's quote token; here it only matters that the order exists.
    const { unplaced, ...added } = catalogueRows(block, events, registry.quoteTokenOf)
    unknown.push(...withoutOrder(block, unplaced))
    decoded.push(await decodeBlock({ ...reader, policies }, block, { events, unknown, added }, genesis))
  }
  return { genesis: [], decoded }
}

/** The events of a block's logs, and what of the chain's own contracts is not understood. */
function eventsOf(block: BlockWithLogs): { events: ChainEvent[]; unknown: UnknownEvent[] } {
  const read = block.logs.map(decodeLog)
  return { events: read.filter((event) => event !== null), unknown: unknownEvents(block, read) }
}

async function decodeBlock(
  { rpc, registry, issuers, policies: uses }: OrderedReader,
  block: BlockWithLogs,
  { events, unknown, added }: { events: ChainEvent[]; unknown: UnknownEvent[]; added: Catalogue },
  genesis: readonly Stablecoin[],
): Promise<DecodedBlock> {
  const sampled = registry.sampledAt(block.number)
  const { stables, policies } = touchedStates(events, unknown)
  uses.learn(events)
  const everyStable = isStateDue(block) || policies.size > 0 ? sampled.map(({ stable }) => stable) : []
  const users = isStateDue(block)
    ? everyStable
    : await uses.usersOf(policies, everyStable, (unknown) => policiesAt(rpc, unknown, block))
  const changed = [...stables, ...genesis.map(({ stable }) => stable)].filter(registry.has)
  const touched = [...new Set([...users, ...changed])]
  const facts = { ...added, ...logFacts(block, events), unknown_events: unknown, blocks: [blockRow(block)] }
  return {
    block,
    events,
    bridged: bridgeMovements(events, issuers),
    facts,
    sampled,
    tooDeep: registry.tooDeepAt(block.number),
    touched,
  }
}

/** The policies of stables at the end of a block, in their order; null if the node no longer has its state. */
async function policiesAt(rpc: Rpc, stables: readonly string[], block: BlockWithLogs): Promise<bigint[] | null> {
  try {
    return await persistAt(rpc, 'read policies', block, () => readPolicyIds(rpc, stables, block))
  } catch (error) {
    if (error instanceof StateUnavailableError) return null
    throw error
  }
}
