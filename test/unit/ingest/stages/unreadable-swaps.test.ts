import { expect, test } from 'vitest'
import { STABLECOIN_DEX } from '../../../../ingest/chain/addresses.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import { createOrders } from '../../../../ingest/knowledge/orders.js'
import { catalogueRows } from '../../../../ingest/stages/catalogue-rows.js'
import { swapsOf } from '../../../../ingest/stages/swaps.js'
import { withoutOrder } from '../../../../ingest/stages/unknown-events.js'
import { encodedLog } from '../../../support/logs.js'

const [BASE, QUOTE] = ['0a', '0b'].map((byte) => `0x20c0${'0'.repeat(20)}${byte.repeat(8)}`) as [string, string]
const [MAKER, TAKER] = ['a1', 'b2'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
const BLOCK = { number: 7, time: 1_790_000_000 }
let logIndex = 0
const event = (
  contract: 'stablecoinDex' | 'tip20',
  name: string,
  address: string,
  args: object,
  transactionHash: string,
) => decodeLog(encodedLog(contract, name, address, args as never, { logIndex: logIndex++, transactionHash }))
const swap = (orderId: bigint, tx: string) => [
  event('tip20', 'Transfer', QUOTE, { from: TAKER, to: STABLECOIN_DEX, amount: 5n }, tx),
  event(
    'stablecoinDex',
    'OrderFilled',
    STABLECOIN_DEX,
    { orderId, maker: MAKER, taker: TAKER, amountFilled: 5n, partialFill: true },
    tx,
  ),
  event('tip20', 'Transfer', BASE, { from: STABLECOIN_DEX, to: TAKER, amount: 5n }, tx),
]
const placed = (orderId: bigint, token: string) =>
  event(
    'stablecoinDex',
    'OrderPlaced',
    STABLECOIN_DEX,
    { orderId, maker: MAKER, token, amount: 9n, isBid: false, tick: 0, isFlipOrder: false, flipTick: 0 },
    '0x1',
  )
const isThere = <Value>(value: Value | null): value is Value => value !== null

test('a swap through an order that no known event has placed is left out and counted, and the others are read', () => {
  const orders = createOrders(async () => [])
  orders.place(1n, { base: BASE, quote: QUOTE, is_bid: false, tick: 0, block_number: 1, log_index: 0 })
  const events = [...swap(1n, '0x1'), ...swap(2n, '0x2'), ...swap(1n, '0x3')].filter(isThere)
  const { swaps, unreadable } = swapsOf(events, orders.termsOf)
  expect(swaps.map(({ txHash, path }) => [txHash, path])).toEqual(['0x1', '0x3'].map((tx) => [tx, [QUOTE, BASE]]))
  expect(withoutOrder(BLOCK, unreadable)).toMatchObject([
    { emitter: 'exchange', contract: STABLECOIN_DEX, reason: 'order', log_count: 1, tx_hash: '0x2' },
  ])
})

test('an order for a token that no known event has made is left out and counted', () => {
  const events = [placed(1n, BASE), placed(2n, QUOTE)].filter(isThere)
  const { dex_orders, unplaced } = catalogueRows(BLOCK, events, (stable) => (stable === BASE ? QUOTE : undefined))
  expect(dex_orders.map(({ order_id }) => order_id)).toEqual(['1'])
  expect(withoutOrder(BLOCK, unplaced)).toMatchObject([{ emitter: 'exchange', reason: 'order', log_count: 1 }])
})
