import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { SampledStable } from '../knowledge/registry.js'
import { readSigners } from '../sources/blocks.js'
import { persistAt } from '../sources/chain-changed.js'
import { allOf } from '../sources/multicall.js'
import { readBookValues } from '../sources/quotes.js'
import { type BookAmount, bookAmountKey, bookAmountsOf, type Movement } from '../stages/flows.js'
import { dealingsOf } from '../stages/parties.js'
import { swapsOf } from '../stages/swaps.js'
import { needsSigner, tradesOf } from '../stages/trades.js'
import type { BatchReader, DecodedBatch, DecodedBlock } from './decode.js'
import type { Scope } from './scope.js'

/** What moved in a block, in log order, and the fills of which that is not known. */
type BlockMovements = { movements: Movement[]; unreadable: ChainEvent[] }

/** A batch with what moved in each of its blocks, and the amounts whose prices in books of unlisted tokens that depends on. */
export type MovedBatch = DecodedBatch & {
  moved: readonly BlockMovements[]
  amounts: ReadonlyArray<readonly BookAmount[]>
}

/** Reads what moved in a batch, if logs are `families` of the scope. */
export async function moveBatch(reader: BatchReader, batch: DecodedBatch, { families }: Scope): Promise<MovedBatch> {
  const { decoded } = batch
  if (!families.includes('logs'))
    return { ...batch, moved: decoded.map(() => ({ movements: [], unreadable: [] })), amounts: decoded.map(() => []) }
  const moved = await readMovements(reader, decoded)
  const amounts = decoded.map((block, i) => bookAmountsAt(reader, moved[i]?.movements ?? [], block))
  return { ...batch, moved, amounts }
}

/**
 * What moved between stables and between chains in each block, in log order. Asks who signed the transactions of a block
 * only where a trade depends on it.
 */
async function readMovements(
  { rpc, orders }: Pick<BatchReader, 'rpc' | 'orders'>,
  decoded: readonly DecodedBlock[],
): Promise<BlockMovements[]> {
  const filled = decoded.flatMap(({ events }) =>
    events.flatMap((event) => (event.name === 'OrderFilled' ? [event.args.orderId] : [])),
  )
  await orders.load(filled)
  const swapsAt = decoded.map(({ events }) => swapsOf(events, orders.termsOf))
  const dealingsAt = decoded.map(({ block }, i) => {
    const unread = new Set(swapsAt[i]?.unreadable.map(({ txHash }) => txHash))
    // What its transfers alone look like is not what such a transaction has moved.
    return dealingsOf(block.logs, swapsAt[i]?.swaps ?? []).filter(({ txHash }) => !unread.has(txHash))
  })
  const { block: last } = decoded.at(-1) as DecodedBlock
  const reads = decoded.map(({ block }, i) => async () => {
    return dealingsAt[i]?.some(needsSigner) ? readSigners(rpc, block) : new Map<string, string>()
  })
  const signers = await persistAt(rpc, 'read signers', last, allOf(reads))
  return decoded.map(({ bridged }, i) => ({
    movements: [
      ...(dealingsAt[i] ?? []).flatMap((dealings) => tradesOf(dealings, signers[i]?.get(dealings.txHash) ?? null)),
      ...bridged,
    ].sort((a, b) => a.logIndex - b.logIndex),
    unreadable: swapsAt[i]?.unreadable ?? [],
  }))
}

const listedIn = new WeakMap<readonly SampledStable[], ReadonlySet<string>>()

/** The reference stable, and those of the sampled stables that are on the token list of their time. */
export function listedAmong(sampled: readonly SampledStable[]): ReadonlySet<string> {
  const cached = listedIn.get(sampled)
  if (cached) return cached
  const listed = sampled.filter(({ tier }) => tier === 'listed').map(({ stable }) => stable)
  const stables = new Set([REFERENCE_STABLE, ...listed])
  listedIn.set(sampled, stables)
  return stables
}

/**
 * The amounts of unlisted tokens on which the values of a block's movements depend, except of tokens that are too many books away
 * from the reference stable.
 */
const bookAmountsAt = (
  { registry }: Pick<BatchReader, 'registry'>,
  movements: readonly Movement[],
  { block, sampled }: Pick<DecodedBlock, 'block' | 'sampled'>,
): BookAmount[] =>
  bookAmountsOf(movements, listedAmong(sampled)).filter(({ token }) => !registry.isTooDeep(token, block.number))

/** What the node's exchange pays for these amounts at the end of a block, by `bookAmountKey`. */
export async function readBooks(
  { rpc, readsAtAnyCost }: Pick<BatchReader, 'rpc' | 'readsAtAnyCost'>,
  amounts: readonly BookAmount[],
  { block }: Pick<DecodedBlock, 'block'>,
): Promise<Map<string, bigint | null>> {
  const values = amounts.length === 0 ? [] : await readBookValues(rpc, amounts, block, { isLimited: !readsAtAnyCost })
  return new Map(values.map((value, i) => [bookAmountKey(amounts[i] as BookAmount), value]))
}
