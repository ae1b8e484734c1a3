import { decodeFunctionData, type Hex, numberToHex, pad } from 'viem'
import { Abis } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { DEPTH_SIZES } from '../../../../clickhouse/peg/price.js'
import { readBookValues, readDepths, readQuotes } from '../../../../ingest/sources/quotes.js'
import { gasNode } from '../../../support/gas-node.js'

const stableOf = (i: number): string => `0x20c0${i.toString(16).padStart(36, '0')}`
const LISTED = Array.from({ length: 25 }, (_, i) => stableOf(0x100 + i))
const STRANGERS = Array.from({ length: 100 }, (_, i) => stableOf(0x200 + i))
const BLOCK = { number: 9, hash: `0x${'9'.repeat(64)}`, time: 1_790_000_000 }
/** What a quote takes, and for each order that it passes; the least amount of an order is 100 tokens. */
const [QUOTE_GAS, ORDER_GAS, LEAST_ORDER] = [15_000, 7000, 100_000_000n]

/** A node at which the books of `filled` have nothing but 20,000 of the least orders; in all others one order is enough. */
const nodeWith = (filled: ReadonlySet<string>) =>
  gasNode((_, callData) => {
    const [tokenIn, tokenOut, amount] = decodeFunctionData({ abi: Abis.stablecoinDex, data: callData })
      .args as unknown as [Hex, Hex, bigint]
    const isFilled = [tokenIn, tokenOut].some((token) => filled.has(token.toLowerCase()))
    const orders = isFilled ? Math.ceil(Number(amount) / Number(LEAST_ORDER)) : 1
    return { gas: QUOTE_GAS + orders * ORDER_GAS, returnData: pad(numberToHex(amount)) }
  })

describe('a stranger who fills the books of his tokens with the least orders', () => {
  const filled = new Set(STRANGERS.slice(0, 10))
  test('makes no sample of a listed stable fail, and none of one token', async () => {
    const { rpc } = nodeWith(filled)
    const quotes = await readQuotes(rpc, [...LISTED, ...STRANGERS], BLOCK)
    expect(quotes.every(({ status }) => status === 'quoted')).toBe(true)
    const depths = await readDepths(rpc, [...STRANGERS, ...LISTED], BLOCK, { unlisted: new Set(STRANGERS) })
    const ofListed = depths.filter(({ stable }) => LISTED.includes(stable))
    expect(ofListed).toHaveLength(LISTED.length * DEPTH_SIZES.length)
    expect(
      ofListed.every(({ sell_status, buy_status }) => [sell_status, buy_status].every((s) => s === 'quoted')),
    ).toBe(true)
  })

  test('costs the node five eth_calls of two million gas a token, and his other tokens and those of others nothing', async () => {
    const { rpc, spent } = nodeWith(filled)
    const depths = await readDepths(rpc, STRANGERS, BLOCK, { unlisted: new Set(STRANGERS) })
    expect(Math.max(...spent)).toBeLessThanOrEqual(2_000_000)
    expect(spent.filter((gas) => gas > 1_900_000).length).toBeLessThanOrEqual(5 * filled.size)
    const failed = depths.filter(({ sell_status, buy_status }) => [sell_status, buy_status].includes('failed'))
    expect(new Set(failed.map(({ stable }) => stable))).toEqual(filled)
    expect(Math.min(...failed.map(({ size_tokens }) => size_tokens))).toBe(100_000)
    // What lacked gas says nothing about the quote.
    const options = { unlisted: new Set(STRANGERS), onlyAnswered: true }
    const answered = await readDepths(nodeWith(filled).rpc, STRANGERS, BLOCK, options)
    expect(answered).toEqual(depths.filter((depth) => !failed.includes(depth)))
  })

  test('and values of his tokens that take too much are none', async () => {
    const [his, honest] = [STRANGERS[0] as string, STRANGERS[50] as string]
    const values = [1n, 100_000n, 3n].flatMap((tokens) =>
      [his, honest].map((token) => ({ token, amount: tokens * 1_000_000n })),
    )
    const { rpc } = nodeWith(filled)
    expect(await readBookValues(rpc, values, BLOCK)).toEqual(
      values.map(({ token, amount }) => (token === his && amount > 10_000_000n ? null : amount)),
    )
  })
})

test('what a quote returns does not depend on the quotes beside it', async () => {
  const filled = new Set(STRANGERS.slice(0, 3))
  const together = await readDepths(nodeWith(filled).rpc, STRANGERS, BLOCK, { unlisted: new Set(STRANGERS) })
  for (const stable of STRANGERS.slice(0, 6)) {
    const alone = await readDepths(nodeWith(filled).rpc, [stable], BLOCK, { unlisted: new Set(STRANGERS) })
    expect(together.filter((sample) => sample.stable === stable)).toEqual(alone)
  }
})
