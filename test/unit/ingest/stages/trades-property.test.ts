import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Movement } from '../../../../ingest/stages/flows.js'
import type { Swap } from '../../../../ingest/stages/swaps.js'
import { accountOf, type Transfer, tokens, tradesIn, transaction } from '../../../support/dealings.js'

const [A, B] = tokens as [string, string]
const SIGNER = accountOf('a1')
const OTHERS = ['b2', 'c3', 'd4', 'e5', 'f6'].map(accountOf)
const EVERYBODY = [SIGNER, ...OTHERS]

/** A ledger of balances that knows nothing of trades: it is told of every payment. */
function ledger() {
  const balances = new Map<string, bigint>()
  return {
    pay: (token: string, from: string, to: string, amount: bigint): void => {
      balances.set(`${from} ${token}`, (balances.get(`${from} ${token}`) ?? 0n) - amount)
      balances.set(`${to} ${token}`, (balances.get(`${to} ${token}`) ?? 0n) + amount)
    },
    of: (account: string, token: string): bigint => balances.get(`${account} ${token}`) ?? 0n,
    /** How much of a token has another owner than before. */
    moved: (token: string): bigint =>
      [...balances].reduce((sum, [key, change]) => (key.endsWith(token) && change > 0n ? sum + change : sum), 0n),
  }
}

const account = fc.constantFrom(...EVERYBODY)
const amount = fc.oneof(fc.bigInt(1n, 5n), fc.bigInt(1n, 10n ** 12n), fc.constant(2n ** 100n))
const token = fc.constantFrom(...tokens.slice(0, 4))
const payment: fc.Arbitrary<Transfer> = fc.tuple(token, account, account, amount)
/** A swap of one token for another that one or two makers fill. */
const exchange = fc
  .record({
    taker: account,
    makers: fc.array(account, { minLength: 1, maxLength: 2 }),
    tokens: fc.tuple(token, token),
    amounts: fc.array(fc.tuple(amount, amount), { minLength: 2, maxLength: 2 }),
  })
  .filter(({ tokens: [from, to] }) => from !== to)

type Exchange = typeof exchange extends fc.Arbitrary<infer One> ? One : never

const swapOf = ({ taker, makers, tokens: [tokenIn, tokenOut], amounts }: Exchange, i: number): Swap => {
  const fills = makers.map((maker, k) => {
    const [amountIn, amountOut] = amounts[k] as [bigint, bigint]
    return { maker, tokenIn, tokenOut, amountIn, amountOut }
  })
  const sum = (side: 'amountIn' | 'amountOut') => fills.reduce((total, fill) => total + fill[side], 0n)
  return {
    account: taker,
    path: [tokenIn, tokenOut],
    amountIn: sum('amountIn'),
    amountOut: sum('amountOut'),
    fills,
    logIndex: 1000 + i,
    txHash: '0xt1',
  }
}

/** An account that only has orders filled stands for the exchange: each of its swaps is a trade with somebody else. */
const ledgerOf = (transfers: readonly Transfer[], swaps: readonly Swap[]) => {
  const book = ledger()
  const active = new Set([...transfers.flatMap(([, from, to]) => [from, to]), ...swaps.map((swap) => swap.account)])
  for (const [what, from, to, much] of transfers) book.pay(what, from, to, much)
  for (const [i, swap] of swaps.entries()) {
    for (const { maker, tokenIn, tokenOut, amountIn, amountOut } of swap.fills) {
      const other = active.has(maker) ? maker : `${maker} in swap ${i}`
      book.pay(tokenIn, swap.account, other, amountIn)
      book.pay(tokenOut, other, swap.account, amountOut)
    }
  }
  return book
}

const clear = (flows: readonly Movement[]) => flows.filter(({ isClear }) => isClear)

test('whatever a transaction does, no trader’s flows give or get more of a token than changed owners in it', () => {
  fc.assert(
    fc.property(
      fc.array(payment, { maxLength: 14 }),
      fc.array(exchange, { maxLength: 4 }),
      fc.option(account),
      (transfers, exchanges, signer) => {
        const swaps = exchanges.map(swapOf)
        const book = ledgerOf(transfers, swaps)
        const flows = clear(tradesIn(transaction(transfers), signer, swaps))
        for (const trader of new Set(flows.map((flow) => flow.account))) {
          for (const one of tokens) {
            const sum = (side: 'from_token' | 'to_token', much: 'amountIn' | 'amountOut') =>
              flows.reduce(
                (total, flow) => (flow[side] === one && flow.account === trader ? total + flow[much] : total),
                0n,
              )
            expect(sum('from_token', 'amountIn') <= book.moved(one)).toBe(true)
            expect(sum('to_token', 'amountOut') <= book.moved(one)).toBe(true)
          }
        }
        // Two flows at one position would hide each other in lists.
        expect(new Set(flows.map(({ logIndex }) => logIndex)).size).toBe(flows.length)
        expect(
          flows.every(
            ({ from_token, to_token, path }) =>
              from_token !== to_token && path[0] === from_token && path.at(-1) === to_token,
          ),
        ).toBe(true)
      },
    ),
    { numRuns: 1000 },
  )
})

test('the order of the transfers of a transaction changes none of its flows', () => {
  const shuffled = fc
    .array(payment, { maxLength: 12 })
    .chain((transfers) =>
      fc.tuple(fc.constant(transfers), fc.shuffledSubarray(transfers, { minLength: transfers.length })),
    )
  fc.assert(
    fc.property(shuffled, fc.array(exchange, { maxLength: 2 }), ([transfers, others], exchanges) => {
      const swaps = exchanges.map(swapOf)
      const shown = (order: Transfer[]) =>
        clear(tradesIn(transaction(order), SIGNER, swaps))
          .map(({ from_token, to_token, amountIn, amountOut }) => `${from_token} ${to_token} ${amountIn} ${amountOut}`)
          .sort()
      expect(shown(others)).toEqual(shown(transfers))
    }),
    { numRuns: 500 },
  )
})

/** A trade of A for B by way of everybody: payments to and from the signer in A and B, and anything among the others. */
const routed = fc.record({
  given: fc.array(fc.tuple(fc.constantFrom(...OTHERS), amount), { minLength: 1, maxLength: 4 }),
  returned: fc.array(fc.tuple(fc.constantFrom(...OTHERS), fc.bigInt(1n, 3n)), { maxLength: 3 }),
  got: fc.array(fc.tuple(fc.constantFrom(...OTHERS), amount), { minLength: 1, maxLength: 4 }),
  between: fc.array(fc.tuple(token, fc.constantFrom(...OTHERS), fc.constantFrom(...OTHERS), amount), { maxLength: 8 }),
  order: fc.array(fc.nat(), { minLength: 24, maxLength: 24 }),
})

test('a trade through any routers, pools, splits, fees, rebates and change is one flow: what the ledger says of the trader', () => {
  fc.assert(
    fc.property(routed, ({ given, returned, got, between, order }) => {
      const transfers: Transfer[] = [
        ...given.map(([to, much]): Transfer => [A, SIGNER, to, much + 9n]),
        ...returned.map(([from, much]): Transfer => [A, from, SIGNER, much]),
        ...got.map(([from, much]): Transfer => [B, from, SIGNER, much]),
        ...between,
        // Whoever takes part has to do with the others.
        ...OTHERS.slice(1).map((to, i): Transfer => [A, OTHERS[i] as string, to, 1n]),
      ]
      const mixed = transfers
        .map((transfer, i) => ({ transfer, at: order[i % order.length] ?? 0 }))
        .sort((a, b) => a.at - b.at)
        .map(({ transfer }) => transfer)
      const book = ledgerOf(transfers, [])
      fc.pre(book.of(SIGNER, A) < 0n)
      expect(
        tradesIn(transaction(mixed), SIGNER).map(
          ({ account: trader, from_token, to_token, amountIn, amountOut, isClear }) => ({
            trader,
            from_token,
            to_token,
            amountIn,
            amountOut,
            isClear,
          }),
        ),
      ).toEqual([
        {
          trader: SIGNER,
          from_token: A,
          to_token: B,
          amountIn: -book.of(SIGNER, A),
          amountOut: book.of(SIGNER, B),
          isClear: true,
        },
      ])
    }),
    { numRuns: 500 },
  )
})
