import type { Flow } from '../../clickhouse/flows/flows.js'
import { ONE_TOKEN, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import type { BlockWithLogs } from '../sources/blocks.js'

/**
 * A flow without its value and its block's position. Amounts are in base units; a token is '' on the side of another
 * chain. Who traded is not clear where several may have set out; such a flow gets no value.
 */
export type Movement = Pick<Flow, 'kind' | 'from_token' | 'to_token' | 'account' | 'path' | 'remote_chain'> & {
  amountIn: bigint
  amountOut: bigint
  isClear: boolean
  logIndex: number
  txHash: string
}

/** An amount of a token that its own book is asked about. */
export type BookAmount = { token: string; amount: bigint }

/** What values are made of in a block. */
export type Prices = {
  /** The sell price of one token in 1e-6 USD, of each stable on the token list; null where it has none. */
  listed: ReadonlyMap<string, number | null>
  /**
   * What the book of an unlisted token pays for an amount, in base units of the reference stable, by `bookAmountKey`; null if
   * it does not take the whole amount.
   */
  books: ReadonlyMap<string, bigint | null>
}

/** The key of an amount in `Prices.books`. */
export const bookAmountKey = ({ token, amount }: BookAmount): string => `${token} ${amount}`

/**
 * The largest value of a flow, in 1e-6 USD: 10^18 USD, more than anything is worth. So sums over 2^48 flows fit into
 * UInt128, and the squares of sums into UInt256.
 */
const MOST_VALUE = 2n ** 80n

const sidesOf = ({ from_token, to_token, amountIn, amountOut }: Movement): BookAmount[] =>
  [
    { token: from_token, amount: amountIn },
    { token: to_token, amount: amountOut },
  ].filter(({ token }) => token !== '')

/**
 * The amounts of unlisted tokens on which the values of these movements depend, each once, in the order of the
 * movements.
 */
export function bookAmountsOf(movements: readonly Movement[], listed: ReadonlySet<string>): BookAmount[] {
  const amounts = movements
    .map((movement) => ({ isClear: movement.isClear, sides: sidesOf(movement) }))
    .filter(({ isClear, sides }) => isClear && sides.some(({ token }) => listed.has(token)))
    .flatMap(({ sides }) => sides.filter(({ token }) => !listed.has(token)))
  return [...new Map(amounts.map((amount) => [bookAmountKey(amount), amount])).values()]
}

/**
 * The value of a movement in 1e-6 USD, rounded down: the lesser of what was given and what was got. A listed stable is
 * worth its price; an unlisted one against a listed one at most what its own book pays for that very amount, if it takes
 * it. Null where no listed stable with a price takes part, as one bid could back any number of flows between somebody's
 * own tokens; where a book was not asked; and where the value is beyond belief.
 */
export function flowValue(movement: Movement, { listed, books }: Prices): bigint | null {
  if (!movement.isClear) return null
  const worths: bigint[] = []
  let hasListed = false
  for (const side of sidesOf(movement)) {
    const price = listed.get(side.token)
    const paid = books.get(bookAmountKey(side))
    if (price === undefined && paid === undefined) return null
    if (price != null) worths.push((side.amount * BigInt(price)) / ONE_TOKEN)
    else if (price === undefined && paid != null) worths.push(paid)
    hasListed ||= price != null
  }
  const [least] = worths.sort((a, b) => (a < b ? -1 : 1))
  return least === undefined || !hasListed || least > MOST_VALUE ? null : least
}

/** The movements of a block as flows with their values, in log order. */
export const flowsOf = (
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  movements: readonly Movement[],
  prices: Prices,
): Flow[] =>
  movements.map((movement) => {
    const { amountIn, amountOut, isClear: _, logIndex, txHash, ...flow } = movement
    return {
      ...flow,
      amount_in_raw: amountIn.toString(),
      amount_out_raw: amountOut.toString(),
      usd_micros: flowValue(movement, prices)?.toString() ?? null,
      block_number: block.number,
      log_index: logIndex,
      block_time: block.time,
      tx_hash: txHash,
    }
  })

/** The prices of a block's listed stables. The reference stable is worth one dollar, sampled or not. */
export const listedPrices = (
  samples: readonly Pick<PegSample, 'stable' | 'sell_micros'>[],
  listed: ReadonlySet<string>,
): Map<string, number | null> =>
  new Map([
    ...samples
      .filter(({ stable }) => listed.has(stable))
      .map(({ stable, sell_micros }) => [stable, sell_micros] as const),
    [REFERENCE_STABLE, Number(ONE_TOKEN)],
  ])
