import { encodeAbiParameters, encodeEventTopics, type Hex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import type { ChainEvent } from '../../../../ingest/chain/event-types.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import { createOrders, type FoundOrder } from '../../../../ingest/knowledge/orders.js'
import { dexFills, dexOrderFlips, dexPairs, exchangeEvents } from '../../../../ingest/stages/dex-orders.js'

const BASE = `0x20c0${'0'.repeat(35)}a` as Hex
const QUOTE = Addresses.pathUsd
const MAKER = `0x${'3'.repeat(40)}` as Hex
const TAKER = `0x${'7'.repeat(40)}` as Hex
const block = { number: 9, time: 1_760_000_000 }
const place = (log_index: number) => ({ block_number: 9, log_index, block_time: block.time, tx_hash: TX })
const TX = `0x${'ab'.repeat(32)}`

/** A log as the node would send it, encoded by viem from the chain's own ABI, and read as ingest reads it. */
function emitted(name: string, args: Record<string, unknown>, logIndex: number): ChainEvent {
  const event = Abis.stablecoinDex.find((item) => item.type === 'event' && item.name === name)
  if (event?.type !== 'event') throw new Error(name)
  const topics = encodeEventTopics({ abi: [event], args } as never) as string[]
  const plain = event.inputs.filter((input) => !('indexed' in input && input.indexed))
  const data = encodeAbiParameters(plain, plain.map((input) => args[input.name as string]) as never)
  const at = { blockNumber: 9, blockHash: '', transactionHash: TX, logIndex }
  return decodeLog({ address: Addresses.stablecoinDex.toLowerCase(), topics, data, ...at }) as ChainEvent
}

const fill = (orderId: bigint, amountFilled: bigint, logIndex: number) =>
  emitted('OrderFilled', { orderId, maker: MAKER, taker: TAKER, amountFilled, partialFill: false }, logIndex)
const flip = (orderId: bigint, isBid: boolean, tick: number, logIndex: number) =>
  emitted('OrderFlipped', { orderId, maker: MAKER, token: BASE, amount: 500n, isBid, tick, flipTick: -tick }, logIndex)
const side = (log_index: number, is_bid: boolean, tick: number, block_number = 9) => ({
  block_number,
  log_index,
  is_bid,
  tick,
})

describe('an order that flips under its own id', () => {
  test('is filled at its side and price at the time of the fill', () => {
    const orders = createOrders(async () => [])
    orders.place(5n, { base: BASE, quote: QUOTE, ...side(0, true, -100) })
    const events = [fill(5n, 1_000_001n, 1), flip(5n, false, 50, 2), fill(5n, 1_000_001n, 3)]
    for (const { log_index, is_bid, tick } of dexOrderFlips(block, events))
      orders.flip(5n, side(log_index, is_bid, tick))
    const fills = dexFills(block, events, orders.termsOf)
    // 1,000,001 x 0.999 = 999,000.999, down for the bid; 1,000,001 x 1.0005 = 1,000,501.0005, up for the ask.
    expect(fills.map(({ is_bid, tick, quote_raw }) => [is_bid, tick, quote_raw])).toEqual([
      [true, -100, '999000'],
      [false, 50, '1000502'],
    ])
  })

  test('is also if it was placed long ago and its flip is not in the database yet', async () => {
    const stored: FoundOrder[] = [
      { order_id: '5', base: BASE, quote: QUOTE, ...side(7, false, 20, 3) },
      { order_id: '5', base: BASE, quote: QUOTE, ...side(1, true, -20, 4) },
    ]
    const orders = createOrders(async () => stored)
    orders.flip(5n, side(2, false, 30))
    await orders.load([5n])
    const tickAt = (blockNumber: number, logIndex: number) => orders.termsOf(5n, { blockNumber, logIndex }).tick
    expect([tickAt(3, 8), tickAt(4, 1), tickAt(4, 2), tickAt(9, 2), tickAt(9, 3)]).toEqual([20, 20, -20, -20, 30])
    expect(() => tickAt(3, 7)).toThrow('order 5 was filled')
  })
})

test('pairs, flips and cancelled or failed orders are read from their logs', () => {
  const key = `0x${'c'.repeat(64)}`
  const events = [
    emitted('PairCreated', { key, base: BASE, quote: QUOTE }, 0),
    emitted('OrderCancelled', { orderId: 2n ** 127n }, 1),
    emitted('FlipFailed', { orderId: 6n, maker: MAKER, reason: '0xbb55fd27' }, 2),
    flip(7n, true, -10, 3),
  ]
  expect(dexPairs(block, events)).toEqual([{ base: BASE, quote: QUOTE, pair_key: key, ...place(0) }])
  expect(exchangeEvents(block, events)).toMatchObject([
    { event: 'PairCreated', token: BASE, quote: QUOTE, log_index: 0 },
    { event: 'OrderCancelled', order_id: (2n ** 127n).toString(), log_index: 1 },
    { event: 'FlipFailed', order_id: '6', log_index: 2 },
    { event: 'OrderFlipped', order_id: '7', maker: MAKER, token: BASE, amount_raw: '500', is_bid: true, tick: -10 },
  ])
  expect(dexOrderFlips(block, events)).toEqual([
    { order_id: '7', maker: MAKER, base: BASE, is_bid: true, tick: -10, amount_raw: '500', flip_tick: 10, ...place(3) },
  ])
})
