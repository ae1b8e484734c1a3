import { Addresses } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { accounts, users } from '../../accounts.js'
import { hops, MAX_HOPS, route, traderActions } from '../../actions.js'
import { applyLogs, type Books, emptyBooks, outcomeOf } from '../../books.js'
import { call } from '../../calls.js'
import type { Intent } from '../../intent.js'
import { blockIntents } from '../../market.js'
import { planMarket } from '../../plan.js'
import { randomFor } from '../../random.js'
import { GENESIS_STABLES, PATH_USD } from '../../stables.js'
import { type SimulatedExchange, simulatedExchange } from '../simulated-exchange.js'

const plan = planMarket({ seed: 1, blocks: 600, blockSeconds: 60, liveBlockSeconds: 1, stables: 10 })

type Run = {
  books: Books
  exchange: SimulatedExchange
  byBlock: Intent[][]
  reverted: { block: number; label: string }[]
}
type Stranger = { from: Intent['from']; calls: Intent['calls'] }

/** Runs the market on a simulated exchange. `before` are transactions of others that come first in a block. */
function run(
  blocks: number,
  before: (block: number) => Stranger[] = () => [],
  onBlock?: (run: Run, n: number) => void,
) {
  const state: Run = { books: emptyBooks(), exchange: simulatedExchange(plan), byBlock: [], reverted: [] }
  for (let block = 1; block <= blocks; block++) {
    const logs = before(block).flatMap(({ from, calls }) => state.exchange.execute(from.address, calls) ?? [])
    const intents = blockIntents(plan, state.books, block)
    for (const { label, from, calls } of intents) {
      const done = state.exchange.execute(from.address, calls)
      if (!done) state.reverted.push({ block, label })
      logs.push(...(done ?? []))
    }
    applyLogs(plan, state.books, logs)
    state.byBlock.push(intents)
    onBlock?.(state, block)
  }
  return state
}

/** Best ticks of the market maker's orders on the exchange. */
function topOf({ exchange }: Run, symbol: string) {
  const ticks = (isBid: boolean): number[] =>
    exchange.ordersOf(accounts.maker.address, symbol).flatMap((o) => (o.isBid === isBid ? [o.tick] : []))
  const [bids, asks] = [ticks(true), ticks(false)]
  return {
    bidTick: bids.length === 0 ? null : Math.max(...bids),
    askTick: asks.length === 0 ? null : Math.min(...asks),
  }
}

let found: Run | undefined
/** The first 600 blocks without others; run once for several tests. */
const undisturbed = (): Run => {
  found ??= run(600)
  return found
}

describe('routes', () => {
  test('go up through quote tokens and down again', () => {
    expect(route(plan, { tokenIn: 'FJUSD', tokenOut: 'CNUSD' })).toEqual({ sells: ['FJUSD', 'ABUSD'], buys: ['CNUSD'] })
    expect(route(plan, { tokenIn: 'pathUSD', tokenOut: 'GRUSD' })).toEqual({ sells: [], buys: ['BWUSD', 'GRUSD'] })
  })

  test('stop at the first stable that both ends are quoted in', () => {
    expect(route(plan, { tokenIn: 'FJUSD', tokenOut: 'ABUSD' })).toEqual({ sells: ['FJUSD'], buys: [] })
    expect(hops(plan, { tokenIn: 'FJUSD', tokenOut: 'FJUSD' })).toBe(0)
  })
})

describe('trade', () => {
  const actions = Array.from({ length: 600 }, (_, block) => traderActions(plan, block)).flat()
  const swaps = actions.flatMap((a) => (a.kind === 'swap' ? [a.swap] : a.kind === 'batch' ? a.swaps : []))

  test('has one to three hops, exact in and exact out, and pairs of swaps', () => {
    for (const exact of ['in', 'out'] as const) {
      for (const length of [1, 2, 3]) {
        expect(swaps.some((s) => s.exact === exact && hops(plan, s) === length)).toBe(true)
      }
    }
    expect(Math.max(...swaps.map((s) => hops(plan, s)))).toBe(MAX_HOPS)
    expect(actions.some((a) => a.kind === 'batch')).toBe(true)
    expect(actions.some((a) => a.kind === 'flip')).toBe(true)
  })

  test('buys about as much of each stable as it sells', () => {
    const net = new Map<string, number>()
    for (const { tokenIn, tokenOut } of swaps) {
      net.set(tokenIn, (net.get(tokenIn) ?? 0) - 1)
      net.set(tokenOut, (net.get(tokenOut) ?? 0) + 1)
    }
    for (const count of net.values()) expect(Math.abs(count)).toBeLessThan(swaps.length * 0.05)
  })

  test('never uses paused stables and empty books', () => {
    for (let block = 5; block < 600; block++) {
      for (const action of traderActions(plan, block)) {
        if (action.kind !== 'swap') continue
        const { sells, buys } = route(plan, action.swap)
        for (const s of sells) expect(plan.topOfBook(s, block).bidTick).not.toBeNull()
        for (const s of buys) expect(plan.topOfBook(s, block).askTick).not.toBeNull()
        for (const s of [...sells, ...buys]) expect(plan.isPaused(s, block)).toBe(false)
      }
    }
  })
})

describe('the transactions of a block', () => {
  test('are the same for the same seed', () => {
    const calls = (upTo: number) => run(upTo).byBlock.map((intents) => intents.map((i) => i.calls))
    expect(calls(60)).toEqual(calls(60))
  })

  test('are few, and sometimes none', () => {
    const counts = undisturbed().byBlock.map((intents) => intents.length)
    const average = counts.reduce((sum, n) => sum + n, 0) / counts.length
    expect(average).toBeGreaterThan(3)
    expect(average).toBeLessThan(8)
    expect(counts).toContain(0)
    expect(Math.max(...counts.slice(10))).toBeLessThan(20)
  })

  test('only approve a genesis stable for the DEX once, open its book, and then move its orders', () => {
    const addresses = GENESIS_STABLES.map((g) => g.address)
    const { byBlock } = undisturbed()
    const touching = byBlock.map((intents) =>
      intents.filter(({ calls }) =>
        calls.some(({ to, data }) => addresses.some((a) => to === a || data.includes(a.slice(2)))),
      ),
    )
    const opened = addresses.map((address, i) => ({
      label: `move the orders of ${GENESIS_STABLES[i]?.symbol}`,
      to: [address, ...Array(6).fill(Addresses.stablecoinDex)],
    }))
    expect(touching[3]?.map(({ label, calls }) => ({ label, to: calls.map((c) => c.to) }))).toEqual(opened)
    const later = touching.toSpliced(3, 1).flat()
    expect(later.length).toBeGreaterThan(0)
    expect(later.length).toBeLessThan(600 * 0.1)
    const labels = opened.map(({ label }) => label)
    for (const { label, calls } of later) {
      expect(labels).toContain(label)
      for (const { to } of calls) expect(to).toBe(Addresses.stablecoinDex)
    }
  })

  test('open the book of a genesis stable on a chain that was created without it', () => {
    const { books } = run(100)
    books.ladders.delete('AlphaUSD')
    const opening = blockIntents(plan, books, 101).find((i) => i.label === 'move the orders of AlphaUSD')
    expect(opening?.calls).toHaveLength(7)
    expect(opening?.calls[0]?.to).toBe(GENESIS_STABLES[0]?.address)
  })

  test('keep the books at the planned prices at the end of every block, and none of them fails', () => {
    const { reverted } = run(300, undefined, (state, block) => {
      for (const { symbol } of plan.tokens) expect(topOf(state, symbol)).toEqual(plan.topOfBook(symbol, block))
    })
    expect(reverted).toEqual([])
  })
})

describe('among strangers', () => {
  const [stranger, other] = users

  test('whose orders take ids between those of the market, its prices stay as planned and none of its transactions fails', () => {
    const order = (block: number): Stranger[] => {
      const random = randomFor(9, 'stranger', block)
      const { address } = random.pick(plan.tokens.filter((t) => t.hasPair))
      const isBid = random.chance(0.5)
      // Behind every price of the market, so that no trade fills it.
      const level = { amount: 100n * 10n ** 6n, isBid, tick: isBid ? -1950 : 1950 }
      return block < 4 ? [] : [{ from: stranger, calls: Array(random.int(0, 2)).fill(call.place(address, level)) }]
    }
    const { reverted, books, exchange } = run(200, order, (state, block) => {
      for (const { symbol } of plan.tokens) expect(topOf(state, symbol)).toEqual(plan.topOfBook(symbol, block))
    })
    expect(reverted).toEqual([])
    for (const { symbol } of plan.tokens) {
      expect(books.ladders.get(symbol) ?? []).toEqual(exchange.ordersOf(accounts.maker.address, symbol))
    }
  })

  test('who take every order of a book, the market has its orders back one block later', () => {
    const eaten = new Map([
      [50, 'ABUSD'],
      [100, 'CNUSD'],
      [150, 'AlphaUSD'],
    ])
    const eat = (block: number): Stranger[] => {
      const symbol = eaten.get(block)
      if (!symbol) return []
      const { address } = plan.token(symbol)
      const swap = { exact: 'out', amount: 7_400_000n * 10n ** 6n, tokenIn: '', tokenOut: '' } as const
      return [
        { from: stranger, calls: [call.swap(PATH_USD.address, address, swap)] },
        { from: other, calls: [call.swap(address, PATH_USD.address, { ...swap, exact: 'in' })] },
      ]
    }
    const { reverted } = run(200, eat, (state, block) => {
      if (eaten.has(block)) return
      for (const { symbol } of plan.tokens) expect(topOf(state, symbol)).toEqual(plan.topOfBook(symbol, block))
    })
    for (const { block } of reverted) expect([...eaten.keys()]).toContain(block)
  })

  test('who use its accounts, the market cancels the orders that it did not place', () => {
    const unwanted: Stranger[] = [accounts.maker, accounts.flipMaker].map((from) => ({
      from,
      calls: [call.place(plan.token('ABUSD').address, { amount: 10n ** 9n, isBid: true, tick: 1990 })],
    }))
    const { reverted, exchange } = run(
      110,
      (block) => (block === 100 ? unwanted : []),
      (state, block) => {
        if (block > 100) expect(topOf(state, 'ABUSD')).toEqual(plan.topOfBook('ABUSD', block))
      },
    )
    expect(reverted).toEqual([])
    expect(exchange.ordersOf(accounts.flipMaker.address, 'ABUSD')).toEqual([])
  })
})

describe('the outcome of a swap', () => {
  const { books } = run(4)

  test('is computed forward for exact in and backward for exact out', () => {
    const given = outcomeOf(plan, books.ladders, {
      tokenIn: 'FJUSD',
      tokenOut: 'CNUSD',
      exact: 'in',
      amount: 1_000_000_003n,
    })
    expect(given?.fills).toHaveLength(3)
    const out = given?.amountOut ?? 0n
    const asked = outcomeOf(plan, books.ladders, { tokenIn: 'FJUSD', tokenOut: 'CNUSD', exact: 'out', amount: out })
    // Buying the amount received costs the amount paid, up to rounding.
    expect(Number((asked?.amountIn ?? 0n) - 1_000_000_003n)).toBeCloseTo(0, -1)
  })

  test('is null if the best order of a book is too small or missing', () => {
    expect(
      outcomeOf(plan, books.ladders, { tokenIn: 'FJUSD', tokenOut: 'CNUSD', exact: 'in', amount: 10n ** 12n }),
    ).toBeNull()
    expect(outcomeOf(plan, new Map(), { tokenIn: 'ABUSD', tokenOut: 'pathUSD', exact: 'in', amount: 1n })).toBeNull()
  })
})
