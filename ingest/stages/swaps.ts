import { chargedByAsk, paidByBid, priceOf } from '../../clickhouse/exchange/amounts.js'
import { PlumblineError } from '../../process/errors.js'
import { STABLECOIN_DEX } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type OrderTerms, UnknownOrderError } from '../knowledge/orders.js'

/**
 * A swap on the DEX, first token to last. `logIndex` is that of the transfer that paid it out; amounts are in base
 * units.
 */
export type Swap = {
  account: string
  path: string[]
  amountIn: bigint
  amountOut: bigint
  /** The other side: what each maker got (`tokenIn`) and gave (`tokenOut`). */
  fills: Fill[]
  logIndex: number
  txHash: string
}

type Leg = { tokenIn: string; tokenOut: string; amountIn: bigint; amountOut: bigint; quoteAmount: bigint }
type Fill = Pick<Leg, 'tokenIn' | 'tokenOut' | 'amountIn' | 'amountOut'> & { maker: string }

/** The logs contradict what is known of the DEX; what was made of them would be wrong flows. */
export class SwapDecodeError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

type Deposit = { from: string; token: string; amount: bigint }

/** What a fill of `amount` base units moved. The DEX rounds the quote side in favour of the maker. */
export function legOf(order: OrderTerms, amount: bigint): Leg {
  const { base, quote, is_bid, tick } = order
  const quoteAmount = (is_bid ? paidByBid : chargedByAsk)(amount, priceOf(tick))
  return is_bid
    ? { tokenIn: base, tokenOut: quote, amountIn: amount, amountOut: quoteAmount, quoteAmount }
    : { tokenIn: quote, tokenOut: base, amountIn: quoteAmount, amountOut: amount, quoteAmount }
}

/**
 * The tokens from the one given to the one received. Fills come in the order of the path or, for exact-output swaps, in
 * reverse.
 */
function pathTo(tokenOut: string, legs: readonly Leg[]): string[] {
  const from = new Map(legs.map((leg) => [leg.tokenOut, leg.tokenIn]))
  const path = [tokenOut]
  for (let token = from.get(tokenOut); token !== undefined && path.length <= from.size; token = from.get(token))
    path.unshift(token)
  return path
}

/**
 * The swaps of one transaction, in the order in which they were paid out. The chain has no swap event: fills collect
 * until the DEX pays somebody, which closes the swap, and each fill's tokens come from its order. A transfer from the
 * DEX without fills before it is a withdrawal; one to the DEX that an OrderPlaced follows is an order's deposit.
 * `events` are the transaction's, in log order. `orderOf` gives the terms that an order had at an event.
 */
export function decodeSwaps(
  events: readonly ChainEvent[],
  orderOf: (orderId: bigint, at: ChainEvent) => OrderTerms,
): Swap[] {
  const swaps: Swap[] = []
  let legs: Array<Leg & { maker: string }> = []
  let taker = ''
  let deposits: Deposit[] = []
  for (const event of events) {
    if (event.name === 'OrderFilled') {
      legs.push({ ...legOf(orderOf(event.args.orderId, event), event.args.amountFilled), maker: event.args.maker })
      taker = event.args.taker
    } else if (event.name === 'OrderPlaced' && legs.length === 0) {
      // With fills pending, it is a flip order changing sides, which moves no token.
      deposits = deposits.filter(({ from }) => from !== event.args.maker)
    } else if (event.name === 'Transfer' && event.args.to === STABLECOIN_DEX) {
      deposits.push({ from: event.args.from, token: event.address, amount: event.args.amount })
    } else if (event.name === 'Transfer' && event.args.from === STABLECOIN_DEX && legs.length > 0) {
      const path = pathTo(event.address, legs)
      const [tokenIn, second] = path
      if (tokenIn === undefined || second === undefined) {
        throw new SwapDecodeError(
          `transaction ${event.txHash}: no fill leads to the token paid out at log ${event.logIndex}`,
        )
      }
      // The transfer shows what the taker paid, unless part or all was paid from a balance inside the DEX.
      const paid = deposits.find(({ from, token }) => from === taker && token === tokenIn)
      const filled = legs
        .filter((leg) => leg.tokenIn === tokenIn && leg.tokenOut === second)
        .reduce((sum, leg) => sum + leg.amountIn, 0n)
      swaps.push({
        account: taker,
        path,
        amountIn: paid !== undefined && paid.amount > filled ? paid.amount : filled,
        amountOut: event.args.amount,
        fills: legs.map(({ quoteAmount: _, ...fill }) => fill),
        logIndex: event.logIndex,
        txHash: event.txHash,
      })
      legs = []
      deposits = []
    }
  }
  return swaps
}

/** Whether a block's events may contain swaps. */
const hasSwaps = (events: readonly ChainEvent[]): boolean => events.some(({ name }) => name === 'OrderFilled')

/** The swaps of a block, in log order, and the fills of transactions whose swaps cannot be read. */
export type BlockSwaps = { swaps: Swap[]; unreadable: ChainEvent[] }

/**
 * The swaps of a block. `orderOf` returns the terms that an order had at an event. After an event of the exchange that is not
 * understood, the terms of an order may be unknown: the swaps of a transaction that fills it are not guessed.
 */
export function swapsOf(
  events: readonly ChainEvent[],
  orderOf: (orderId: bigint, at: ChainEvent) => OrderTerms,
): BlockSwaps {
  const read: BlockSwaps = { swaps: [], unreadable: [] }
  if (!hasSwaps(events)) return read
  const byTransaction = new Map<string, ChainEvent[]>()
  for (const event of events) {
    const txEvents = byTransaction.get(event.txHash)
    if (txEvents) txEvents.push(event)
    else byTransaction.set(event.txHash, [event])
  }
  for (const txEvents of byTransaction.values()) {
    try {
      read.swaps.push(...decodeSwaps(txEvents, orderOf))
    } catch (error) {
      if (!(error instanceof SwapDecodeError || error instanceof UnknownOrderError)) throw error
      read.unreadable.push(...txEvents.filter(({ name }) => name === 'OrderFilled'))
    }
  }
  return read
}
