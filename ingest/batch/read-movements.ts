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
import type { BatchReader, DecodedBlock } from './decode.js'

/** What moved in a block, in log order, and the fills of which that is not known. */
export type BlockMovements = { movements: Movement[]; unreadable: ChainEvent[] }

/**
 * What moved between stables and between chains in each block, in log order. Asks who signed the transactions of a block
 * only where a trade depends on it.
 */
export async function readMovements(
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
 * What the books of unlisted tokens pay for the amounts on which the values of a block's movements depend. Tokens that
 * are too many books away from the reference stable are not asked about.
 */
export async function readBooks(
  { rpc, registry }: Pick<BatchReader, 'rpc' | 'registry'>,
  movements: readonly Movement[],
  { block, sampled }: Pick<DecodedBlock, 'block' | 'sampled'>,
): Promise<Map<string, bigint | null>> {
  const amounts = bookAmountsOf(movements, listedAmong(sampled)).filter(
    ({ token }) => !registry.isTooDeep(token, block.number),
  )
  const values = amounts.length === 0 ? [] : await readBookValues(rpc, amounts, block)
  return new Map(values.map((value, i) => [bookAmountKey(amounts[i] as BookAmount), value]))
}
