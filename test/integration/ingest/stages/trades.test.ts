import type { ClickHouseClient } from '@clickhouse/client'
import { encodeFunctionData, type Hex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { beforeAll, expect } from 'vitest'
import { flowEdges, flowGraph } from '../../../../clickhouse/flows/flows.js'
import { type Call, call } from '../../../../local/chain/calls.js'
import { GENESIS_STABLES, PATH_USD } from '../../../../local/chain/stables.js'
import { testOn, useStillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { approveAll, move, ownToken, parties } from '../../../support/trades.js'
import { mine, type Receipt } from '../../../support/transactions.js'

const [user, router, pool, treasury] = parties
const [alpha, beta, theta] = GENESIS_STABLES.map(({ address }) => address) as [Hex, Hex, Hex]
const path = PATH_USD.address as Hex
const USD = 1_000_000n
const MOST = 2n ** 128n - 1n

const chain = useStillChain({ historyBlocks: 30 })
const test = testOn(chain)
beforeAll(async () => {
  await approveAll(chain, [path, alpha, beta, theta])
})

/** Signs one batch. Throws if it fails. */
async function batch(
  from: (typeof parties)[number],
  calls: Parameters<typeof mine>[1][number]['calls'],
): Promise<Receipt> {
  const [receipt] = (await mine(chain, [{ from, calls }])) as [Receipt]
  if (receipt.status !== '0x1') throw new Error('the batch failed')
  return receipt
}

/** A call of the exchange. */
const dex = (functionName: string, args: readonly unknown[]): Call => ({
  to: Addresses.stablecoinDex,
  data: encodeFunctionData({ abi: Abis.stablecoinDex, functionName, args } as never),
})

type Shown = [account: string, from: string, to: string, amountIn: bigint, amountOut: bigint, usd: string | null]

/** The flows of a transaction. */
async function flowsIn(clickhouse: ClickHouseClient, { transactionHash }: Receipt): Promise<Shown[]> {
  const rows = await factRows(clickhouse, 'flows', [transactionHash])
  return rows.map(({ account, from_token, to_token, amount_in_raw, amount_out_raw, usd_micros }) => [
    `${account}`,
    `${from_token}`,
    `${to_token}`,
    BigInt(`${amount_in_raw}`),
    BigInt(`${amount_out_raw}`),
    usd_micros === null ? null : `${usd_micros}`,
  ])
}

/** What a listed token sells for at the head. */
async function priceOf(clickhouse: ClickHouseClient, token: Hex, { blockNumber }: Receipt): Promise<bigint> {
  const answer = await clickhouse.query({
    query:
      'SELECT sell_micros FROM peg_samples WHERE stable = {token: String} AND block_number = {blockNumber: UInt64}',
    query_params: { token, blockNumber },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ sell_micros: number }>()
  return BigInt(row?.sell_micros ?? 0)
}

const least = (a: bigint, b: bigint): string => `${a < b ? a : b}`

test('10^30 units of an own token with one bid of 100 tokens, for 1 micro-pathUSD, are worth a millionth of a dollar', async ({
  clickhouse,
  takeIn,
}) => {
  const own = await ownToken(chain, { salt: 7001, holder: user, amount: 10n ** 30n, bid: 100n * USD, tick: 0 })
  const receipt = await batch(user, [call.transfer(own, pool.address, 10n ** 30n), move(path, pool, user, 1n)])
  await takeIn()
  expect(await flowsIn(clickhouse, receipt)).toEqual([[user.address.toLowerCase(), own, path, 10n ** 30n, 1n, '1']])
})

test('one bid does not back flows between own tokens, which have no value', async ({ clickhouse, takeIn }) => {
  const [one, other] = [
    await ownToken(chain, { salt: 7002, holder: user, amount: 10n ** 15n, bid: 100n * USD }),
    await ownToken(chain, { salt: 7003, holder: pool, amount: 10n ** 15n, bid: 100n * USD }),
  ]
  await approveAll(chain, [one, other])
  const receipt = await batch(user, [call.transfer(one, pool.address, 90n * USD), move(other, pool, user, 90n * USD)])
  await takeIn()
  expect(await flowsIn(clickhouse, receipt)).toEqual([
    [user.address.toLowerCase(), one, other, 90n * USD, 90n * USD, null],
  ])
})

test('2^128 - 1 base units of an own token that sells at 1.02 are not worth that number modulo 2^128', async ({
  clickhouse,
  takeIn,
}) => {
  const own = await ownToken(chain, { salt: 7004, holder: user, amount: MOST, bid: 100n * USD, tick: 2000 })
  const receipt = await batch(user, [call.transfer(own, pool.address, MOST), move(alpha, pool, user, 5n * USD)])
  await takeIn()
  const price = await priceOf(clickhouse, alpha, receipt)
  expect(await flowsIn(clickhouse, receipt)).toEqual([
    [user.address.toLowerCase(), own, alpha, MOST, 5n * USD, `${5n * price}`],
  ])
  // The sums are exact as well.
  const edges = await flowEdges(clickhouse, { from: new Date(0), to: new Date(2 ** 32 * 1000 - 1000) })
  const edge = flowGraph(edges).edges.find(({ from_address }) => from_address === own)
  expect(edge?.volume_usd).toBe(`${5n * price}`.padStart(7, '0').replace(/(\d{6})$/, '.$1'))
})

test('1,000 AlphaUSD to BetaUSD by way of a router and a pool, in one transaction, are one flow of 1,000 USD', async ({
  clickhouse,
  takeIn,
}) => {
  const amount = 1_000n * USD
  const receipt = await batch(user, [
    call.transfer(alpha, router.address, amount),
    move(alpha, router, pool, amount),
    move(beta, pool, router, amount),
    move(beta, router, user, amount),
  ])
  await takeIn()
  const [a, b] = [await priceOf(clickhouse, alpha, receipt), await priceOf(clickhouse, beta, receipt)]
  expect(await flowsIn(clickhouse, receipt)).toEqual([
    [user.address.toLowerCase(), alpha, beta, amount, amount, least(1_000n * a, 1_000n * b)],
  ])
})

test('split over a pool and the exchange, with a fee in kind and a rebate: one flow, what the user gave and got', async ({
  clickhouse,
  takeIn,
}) => {
  const receipt = await batch(user, [
    call.transfer(alpha, router.address, 1_000n * USD),
    // The router keeps ten as its fee, and returns one.
    move(alpha, router, pool, 489n * USD),
    move(beta, pool, user, 488n * USD),
    move(alpha, router, user, USD),
    call.swap(alpha, beta, { exact: 'in', amount: 500n * USD } as never),
    move(beta, pool, user, USD),
  ])
  await takeIn()
  const [flow, ...others] = await flowsIn(clickhouse, receipt)
  expect(others).toEqual([])
  const [account, from, to, amountIn, amountOut] = flow as Shown
  expect([account, from, to, amountIn]).toEqual([user.address.toLowerCase(), alpha, beta, 1_499n * USD])
  const swapped = amountOut - 489n * USD
  expect(swapped > 480n * USD && swapped < 520n * USD).toBe(true)
})

test('two trades in one batch that have nothing to do with each other are two flows; a payment beside them is none', async ({
  clickhouse,
  takeIn,
}) => {
  const receipt = await batch(user, [
    call.transfer(alpha, pool.address, 300n * USD),
    move(beta, pool, user, 299n * USD),
    call.transfer(theta, router.address, 70n * USD),
    move(path, router, user, 69n * USD),
    call.transfer(beta, treasury.address, 250n * USD),
  ])
  await takeIn()
  const flows = await flowsIn(clickhouse, receipt)
  expect(flows.map(([, ...rest]) => rest.slice(0, 4))).toEqual([
    [alpha, beta, 300n * USD, 299n * USD],
    [theta, path, 70n * USD, 69n * USD],
  ])
})

test('two accounts that a stranger makes trade leave open who traded: the flow has no value', async ({
  clickhouse,
  takeIn,
}) => {
  const receipt = await batch(treasury, [move(alpha, user, pool, 40n * USD), move(beta, pool, user, 39n * USD)])
  await takeIn()
  expect(await flowsIn(clickhouse, receipt)).toEqual([
    [user.address.toLowerCase(), alpha, beta, 40n * USD, 39n * USD, null],
  ])
})

test('a swap of which nothing is paid out is no flow, also before a withdrawal or another swap', async ({
  clickhouse,
  takeIn,
}) => {
  const [own, kept] = [
    await ownToken(chain, { salt: 7005, holder: user, amount: 10n ** 12n }),
    await ownToken(chain, { salt: 7006, holder: user, amount: 10n ** 12n, bid: 100n * USD, tick: -100 }),
  ]
  const bid = call.place(own, { amount: 200n * USD, isBid: true, tick: -100 })
  const ask = call.place(kept, { amount: 100n * USD, isBid: false, tick: 100 })
  const [bought, placed] = (await mine(chain, [
    { from: pool, calls: [call.approveDex(path), bid] },
    { from: user, calls: [call.approveDex(own), call.approveDex(kept), ask] },
  ])) as [Receipt, Receipt]
  expect([bought.status, placed.status]).toEqual(['0x1', '0x1'])
  // What an order held is withdrawn from the exchange once the order is taken back.
  await batch(user, [call.cancel(BigInt(placed.logs.at(-2)?.topics[1] ?? ''))])
  const dust = dex('swapExactAmountIn', [own, path, 1n, 0n])
  const receipts = [
    await batch(user, [dust]),
    await batch(user, [dust, dex('withdraw', [kept, 50n * USD])]),
    await batch(user, [dust, dex('swapExactAmountIn', [own, path, 5n * USD, 0n])]),
  ]
  await takeIn()
  const flows = await Promise.all(receipts.map((receipt) => flowsIn(clickhouse, receipt)))
  const trader = user.address.toLowerCase()
  // The book paid 0.999 for each, and would pay the same for as many again.
  expect(flows).toEqual([[], [], [[trader, own, path, 5n * USD, 4_995_000n, '4995000']]])
})
