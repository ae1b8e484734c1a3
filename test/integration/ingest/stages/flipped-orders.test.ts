import { encodeFunctionData, type Hex, keccak256, numberToHex, toHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { type Account, accounts } from '../../../../local/chain/accounts.js'
import { type Call, call } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { type T12Chain, t12Chain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'
import { quoteOf } from '../../../support/t12/exchange.js'
import { ownToken, parties } from '../../../support/trades.js'
import { mine, type Receipt } from '../../../support/transactions.js'

const PATH_USD = Addresses.pathUsd
const ONE = 10n ** 6n
const POLICY_CREATED = keccak256(toHex('PolicyCreated(uint64,address,uint8)'))

/** Mines one batch of an account. */
async function batch(chain: T12Chain, from: Account, calls: Call[]): Promise<Receipt> {
  const [receipt] = (await mine(chain, [{ from, calls }])) as [Receipt]
  if (receipt.status !== '0x1') throw new Error('the batch failed')
  return receipt
}

test('an order that flips keeps its id, and each of its fills has the side and price of its turn', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const chain = await t12Chain({ seed: 1, historyBlocks: 30 })
  try {
    const [maker, taker] = parties
    const token = await ownToken(chain, { salt: 9001, holder: maker, amount: 10_000n * ONE })
    const approvals = [call.approveDex(token), call.approveDex(PATH_USD)]
    const level = { amount: 200n * ONE, isBid: true, tick: -10 }
    const given = call.transfer(token, taker.address, 1_000n * ONE)
    await batch(chain, maker, [...approvals, given, call.placeFlip(token, level, 20)])
    await batch(chain, taker, approvals)
    const sell = (amount: bigint) =>
      batch(chain, taker, [call.swap(token, PATH_USD, { tokenIn: token, tokenOut: PATH_USD, exact: 'in', amount })])
    const buy = { tokenIn: PATH_USD, tokenOut: token, exact: 'out', amount: 200n * ONE } as const
    await sell(200n * ONE)
    await batch(chain, taker, [call.swap(PATH_USD, token, buy)])
    await sell(50n * ONE)
    // A maker who may no longer trade the token cannot flip, of which T4 says nothing.
    const { logs } = await batch(chain, accounts.issuer, [
      call.createPolicy(accounts.issuer.address, 'blacklist', [maker.address]),
    ])
    const created = logs.find(({ topics }) => topics[0] === POLICY_CREATED)
    await batch(chain, accounts.issuer, [call.changePolicy(token, BigInt(created?.topics[1] as Hex))])
    await sell(150n * ONE)

    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const rows = async (query: string) => (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
    const orders = await rows(`SELECT toString(order_id) AS id FROM dex_orders WHERE base = '${token}'`)
    expect(orders).toHaveLength(1)
    const of = `WHERE order_id = ${(orders[0] as { id: string }).id} ORDER BY block_number, log_index`
    expect(await rows(`SELECT is_bid, tick, toString(base_raw) AS base, is_partial FROM dex_fills ${of}`)).toEqual([
      { is_bid: true, tick: -10, base: `${200n * ONE}`, is_partial: false },
      { is_bid: false, tick: 20, base: `${200n * ONE}`, is_partial: false },
      { is_bid: true, tick: -10, base: `${50n * ONE}`, is_partial: true },
      { is_bid: true, tick: -10, base: `${150n * ONE}`, is_partial: false },
    ])
    expect(await rows(`SELECT is_bid, tick FROM dex_order_flips ${of}`)).toEqual([
      { is_bid: false, tick: 20 },
      { is_bid: true, tick: -10 },
    ])
    expect(await rows(`SELECT event FROM exchange_events ${of}`)).toEqual(
      [
        'OrderPlaced',
        'OrderFilled',
        'OrderFlipped',
        'OrderFilled',
        'OrderFlipped',
        'OrderFilled',
        'OrderFilled',
        'FlipFailed',
      ].map((event) => ({ event })),
    )
    const swapped = `SELECT toString(amount_in_raw) AS paid, toString(amount_out_raw) AS got FROM flows
                     WHERE kind = 'swap' AND '${token}' IN (from_token, to_token) ORDER BY block_number`
    expect(await rows(swapped)).toEqual([
      { paid: '200000000', got: '199980000' },
      { paid: '200040000', got: '200000000' },
      { paid: '50000000', got: '49995000' },
      { paid: '150000000', got: '149985000' },
    ])
  } finally {
    await chain.remove()
  }
}, 60_000)

test('by T12’s rule, a quote is what T4’s node says but for a unit an order', async () => {
  const chain = await t12Chain({ seed: 1, historyBlocks: 60 })
  try {
    const local = createRpc(chain.localUrl)
    let quoted = 0
    for (const { number, exchange } of await chain.blocks()) {
      if (number % 10 !== 0) continue
      const tokens = [...exchange.quotes.keys()]
      const asked = tokens.flatMap((token) => [ONE, 5_000n * ONE, 100_000n * ONE].map((amount) => ({ token, amount })))
      const calls = asked.flatMap(({ token, amount }) =>
        (
          [
            ['quoteSwapExactAmountIn', token, PATH_USD, amount],
            ['quoteSwapExactAmountOut', PATH_USD, token, amount],
          ] as const
        ).map(([functionName, ...args]) => {
          const data = encodeFunctionData({ abi: Abis.stablecoinDex, functionName, args: args as never })
          return ['eth_call', [{ to: Addresses.stablecoinDex, data }, numberToHex(number)]] as const
        }),
      )
      const answers = await local.attempt(calls)
      asked.forEach(({ token, amount }, i) => {
        const made = [
          quoteOf(exchange, token, PATH_USD, 'in', amount),
          quoteOf(exchange, PATH_USD, token, 'out', amount),
        ]
        made.forEach((quote, side) => {
          const answer = answers[2 * i + side]
          if (!answer || !('result' in answer)) return
          const difference = Number((quote ?? -1n) - BigInt(answer.result as Hex))
          expect(Math.abs(difference)).toBeLessThan(exchange.orders.size)
          quoted++
        })
      })
    }
    expect(quoted).toBeGreaterThan(50)
  } finally {
    await chain.remove()
  }
}, 60_000)
