import type { Flow } from '../../clickhouse/flows/flows.js'
import { ONE_TOKEN } from '../../clickhouse/peg/price.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { ChainChangedError } from '../sources/chain-changed.js'
import type { Exchange } from './exchanges.js'
import type { Swap } from './swaps.js'

/**
 * Passes ranges of blocks on while each begins with a child of the block before it. `last` is the block before the
 * first range, null if there is none; `planned` is the end of a range that was read before and may be partly written,
 * which must be the same again. Rejects with ChainChangedError.
 */
export async function* linked<Range extends readonly Pick<BlockWithLogs, 'number' | 'hash' | 'parentHash'>[]>(
  ranges: AsyncIterable<Range>,
  last: { hash: string } | null,
  planned: { to: number; lastHash: string } | null,
): AsyncGenerator<Range> {
  let parent = last?.hash
  for await (const range of ranges) {
    const [first, end] = [range[0], range.at(-1)] as [Range[number], Range[number]]
    if (parent !== undefined && first.parentHash !== parent)
      throw new ChainChangedError(`block ${first.number} is not a child of ${parent}`)
    if (planned?.to === end.number && planned.lastHash !== end.hash)
      throw new ChainChangedError(`block ${end.number} was ${planned.lastHash} when it was planned`)
    parent = end.hash
    yield range
  }
}

const ofSwap = ({ path, ...swap }: Swap): Movement => ({
  ...swap,
  kind: 'swap',
  from_token: path[0] as string,
  to_token: path.at(-1) as string,
  path,
  remote_chain: null,
})

const ofExchange = ({ tokenIn, tokenOut, counterparty: _, ...exchange }: Exchange): Movement => ({
  ...exchange,
  kind: 'transfer',
  from_token: tokenIn,
  to_token: tokenOut,
  path: [tokenIn, tokenOut],
  remote_chain: null,
})

/**
 * Whether an exchange forwards what one of the two accounts swapped, as routers do: it is already counted by the swap.
 */
const isForwardedSwap = (exchange: Exchange, swap: Swap): boolean =>
  swap.txHash === exchange.txHash &&
  (swap.account === exchange.account || swap.account === exchange.counterparty) &&
  swap.path[0] === exchange.tokenIn &&
  swap.path.at(-1) === exchange.tokenOut

/** What moved between stables in a block, and between this chain and others (`bridged`), in log order. */
export function movementsOf(
  swaps: readonly Swap[],
  exchanges: readonly Exchange[],
  bridged: readonly Movement[],
): Movement[] {
  const own = exchanges.filter((exchange) => !swaps.some((swap) => isForwardedSwap(exchange, swap)))
  return [...swaps.map(ofSwap), ...own.map(ofExchange), ...bridged].sort((a, b) => a.logIndex - b.logIndex)
}

/**
 * A flow without its value and its block's position. Amounts are in base units; a token is '' on the side of another
 * chain.
 */
export type Movement = Pick<Flow, 'kind' | 'from_token' | 'to_token' | 'account' | 'path' | 'remote_chain'> & {
  amountIn: bigint
  amountOut: bigint
  logIndex: number
  txHash: string
}

/**
 * The largest value of a flow, in 1e-6 USD: 2^80 are 1.2 x 10^18 USD. Whoever makes a token of their own can make one
 * flow worth more than any sum can hold; it has no value instead.
 */
const MOST_VALUE = 2n ** 80n

/**
 * Turns a movement into a flow. Its value is the amount sent, at the token's sell price in this block's own sample
 * (1e-6 USD, rounded down); if that has no price, the amount received at its price; null if neither has one.
 */
export function priceFlow(
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  { amountIn, amountOut, logIndex, txHash, ...flow }: Movement,
  priceMicros: ReadonlyMap<string, number | null>,
): Flow {
  const value = (token: string, amount: bigint): bigint | null => {
    const price = priceMicros.get(token) ?? null
    if (price === null) return null
    const micros = (amount * BigInt(price)) / ONE_TOKEN
    return micros > MOST_VALUE ? null : micros
  }
  return {
    ...flow,
    amount_in_raw: amountIn.toString(),
    amount_out_raw: amountOut.toString(),
    usd_micros: (value(flow.from_token, amountIn) ?? value(flow.to_token, amountOut))?.toString() ?? null,
    block_number: block.number,
    log_index: logIndex,
    block_time: block.time,
    tx_hash: txHash,
  }
}

/** The movements of a block as flows, valued at the block's own samples. */
export function flowsOf(
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  movements: readonly Movement[],
  samples: readonly PegSample[],
): Flow[] {
  if (movements.length === 0) return []
  const prices = new Map(samples.map(({ stable, sell_micros }) => [stable, sell_micros]))
  return movements.map((movement) => priceFlow(block, movement, prices))
}
