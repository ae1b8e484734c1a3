import { describe, expect, test } from 'vitest'
import { STABLECOIN_DEX as DEX } from '../../../../ingest/chain/addresses.js'
import type { ChainEvent } from '../../../../ingest/chain/event-types.js'
import type { OrderTerms } from '../../../../ingest/knowledge/orders.js'
import { decodeSwaps, SwapDecodeError } from '../../../../ingest/stages/swaps.js'

const PATH = '0x20c0000000000000000000000000000000000000'
const A = '0x20c000000000000000000000000000000000000a'
const B = '0x20c000000000000000000000000000000000000b'
const TAKER = `0x${'7'.repeat(40)}`
const MAKER = `0x${'3'.repeat(40)}`

const ORDERS: Record<string, OrderTerms> = {
  1: { base: A, quote: PATH, is_bid: true, tick: -30 },
  2: { base: A, quote: PATH, is_bid: true, tick: -40 },
  3: { base: B, quote: PATH, is_bid: false, tick: 20 },
  4: { base: B, quote: PATH, is_bid: false, tick: 0 },
}
const orderOf = (id: bigint): OrderTerms => {
  const terms = ORDERS[id.toString()]
  if (!terms) throw new SwapDecodeError(`order ${id}`)
  return terms
}

let logIndex = 0
const at = (address: string) => ({ address, blockNumber: 1, logIndex: logIndex++, txHash: '0xtx' })
const transfer = (token: string, from: string, to: string, amount: bigint): ChainEvent => ({
  ...at(token),
  name: 'Transfer',
  args: { from, to, amount },
})
const fill = (orderId: bigint, amountFilled: bigint): ChainEvent => ({
  ...at(DEX),
  name: 'OrderFilled',
  args: { orderId, maker: MAKER, taker: TAKER, amountFilled, partialFill: false },
})
const place = (maker: string, token: string): ChainEvent => ({
  ...at(DEX),
  name: 'OrderPlaced',
  args: { orderId: 9n, maker, token, amount: 1n, isBid: false, tick: 0, isFlipOrder: true, flipTick: 0 },
})

const summary = (events: ChainEvent[]) =>
  decodeSwaps(events, orderOf).map(({ path, amountIn, amountOut }) => ({ path, amountIn, amountOut }))

describe('swaps are reconstructed from fills and transfers', () => {
  test('one hop over two orders is one swap', () => {
    const events = [transfer(A, TAKER, DEX, 150n), fill(1n, 100n), fill(2n, 50n), transfer(PATH, DEX, TAKER, 148n)]
    expect(summary(events)).toEqual([{ path: [A, PATH], amountIn: 150n, amountOut: 148n }])
  })

  test('two hops are one swap from the first token to the last, in either order of fills', () => {
    const fills = [fill(1n, 1_000_000n), fill(3n, 999_000n)]
    const swap = [{ path: [A, PATH, B], amountIn: 1_000_000n, amountOut: 999_000n }]
    expect(summary([transfer(A, TAKER, DEX, 1_000_000n), ...fills, transfer(B, DEX, TAKER, 999_000n)])).toEqual(swap)
    expect(
      summary([...fills.reverse(), transfer(A, TAKER, DEX, 1_000_000n), transfer(B, DEX, TAKER, 999_000n)]),
    ).toEqual(swap)
  })

  test('a swap paid from a balance within the DEX has the amount of its fills, rounded up', () => {
    // 333 B at 1.0002: 333.0666 of the quote token.
    expect(summary([fill(3n, 333n), transfer(B, DEX, TAKER, 333n)])).toEqual([
      { path: [PATH, B], amountIn: 334n, amountOut: 333n },
    ])
  })

  test('two swaps in one transaction remain two', () => {
    const first = [transfer(A, TAKER, DEX, 100n), fill(1n, 100n), transfer(PATH, DEX, TAKER, 99n)]
    const second = [transfer(PATH, TAKER, DEX, 40n), fill(4n, 40n), transfer(B, DEX, TAKER, 40n)]
    expect(summary([...first, ...second])).toEqual([
      { path: [A, PATH], amountIn: 100n, amountOut: 99n },
      { path: [PATH, B], amountIn: 40n, amountOut: 40n },
    ])
  })

  test('the deposit of an order placed earlier in the transaction is not taken for its payment', () => {
    const placed = [transfer(A, TAKER, DEX, 5_000n), place(TAKER, A)]
    expect(summary([...placed, fill(1n, 100n), transfer(PATH, DEX, TAKER, 99n)])).toEqual([
      { path: [A, PATH], amountIn: 100n, amountOut: 99n },
    ])
  })

  test('an order that flips in the middle of a swap changes nothing', () => {
    const events = [
      transfer(A, TAKER, DEX, 150n),
      fill(1n, 100n),
      place(MAKER, A),
      fill(2n, 50n),
      transfer(PATH, DEX, TAKER, 148n),
    ]
    expect(summary(events)).toEqual([{ path: [A, PATH], amountIn: 150n, amountOut: 148n }])
  })

  test('deposits and withdrawals are not swaps', () => {
    expect(summary([transfer(A, TAKER, DEX, 10n), place(TAKER, A), transfer(PATH, DEX, TAKER, 99n)])).toEqual([])
  })

  test('a fill of an unknown order is an error, not a guess', () => {
    expect(() => summary([fill(77n, 1n), transfer(PATH, DEX, TAKER, 1n)])).toThrow(SwapDecodeError)
  })
})
