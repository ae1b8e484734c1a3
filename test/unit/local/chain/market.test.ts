import { Addresses } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { hops, MAX_HOPS, route, traderActions } from '../../../../local/chain/actions.js'
import { emptyBooks, outcomeOf } from '../../../../local/chain/books.js'
import type { Intent } from '../../../../local/chain/intent.js'
import { blockIntents } from '../../../../local/chain/market.js'
import { planMarket } from '../../../../local/chain/plan.js'
import { GENESIS_STABLES } from '../../../../local/chain/stables.js'

const plan = planMarket({ seed: 1, blocks: 600, blockSeconds: 60, liveBlockSeconds: 1, stables: 10 })

function intentsUpTo(block: number): { byBlock: Intent[][]; books: ReturnType<typeof emptyBooks> } {
  const books = emptyBooks()
  return { byBlock: Array.from({ length: block }, (_, i) => blockIntents(plan, books, i + 1)), books }
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
    const calls = (upTo: number) => intentsUpTo(upTo).byBlock.map((intents) => intents.map((i) => i.calls))
    expect(calls(100)).toEqual(calls(100))
  })

  test('are few, and sometimes none', () => {
    const counts = intentsUpTo(600).byBlock.map((intents) => intents.length)
    const average = counts.reduce((sum, n) => sum + n, 0) / counts.length
    expect(average).toBeGreaterThan(3)
    expect(average).toBeLessThan(8)
    expect(counts).toContain(0)
    expect(Math.max(...counts.slice(10))).toBeLessThan(20)
  })

  test('only approve a genesis stable for the DEX once, open its book, and then move its orders', () => {
    const addresses = GENESIS_STABLES.map((g) => g.address)
    const { byBlock } = intentsUpTo(600)
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
    const { books } = intentsUpTo(100)
    books.ladders.delete('AlphaUSD')
    const opening = blockIntents(plan, books, 101).find((i) => i.label === 'move the orders of AlphaUSD')
    expect(opening?.calls).toHaveLength(7)
    expect(opening?.calls[0]?.to).toBe(GENESIS_STABLES[0]?.address)
    expect(books.ladders.get('AlphaUSD')).toHaveLength(6)
  })

  test('keep the books at the planned prices at the end of every block', () => {
    const books = emptyBooks()
    for (let block = 1; block <= 600; block++) {
      blockIntents(plan, books, block)
      for (const { symbol } of plan.tokens) {
        // Orders of a paused stable cannot be moved, and the plan does not move them.
        const orders = books.ladders.get(symbol) ?? []
        const best = (isBid: boolean): number | null => {
          const ticks = orders.filter((o) => o.isBid === isBid).map((o) => o.tick)
          return ticks.length === 0 ? null : isBid ? Math.max(...ticks) : Math.min(...ticks)
        }
        expect({ bidTick: best(true), askTick: best(false) }).toEqual(plan.topOfBook(symbol, block))
      }
    }
  })
})

describe('the outcome of a swap', () => {
  const { books } = intentsUpTo(4)

  test('is computed forward for exact in and backward for exact out', () => {
    const given = outcomeOf(plan, books, { tokenIn: 'FJUSD', tokenOut: 'CNUSD', exact: 'in', amount: 1_000_000_003n })
    expect(given?.fills).toHaveLength(3)
    const out = given?.amountOut ?? 0n
    const asked = outcomeOf(plan, books, { tokenIn: 'FJUSD', tokenOut: 'CNUSD', exact: 'out', amount: out })
    // Buying the amount received costs the amount paid, up to rounding.
    expect(Number((asked?.amountIn ?? 0n) - 1_000_000_003n)).toBeCloseTo(0, -1)
  })

  test('is null if the best order of a book is too small or missing', () => {
    expect(outcomeOf(plan, books, { tokenIn: 'FJUSD', tokenOut: 'CNUSD', exact: 'in', amount: 10n ** 12n })).toBeNull()
    expect(outcomeOf(plan, emptyBooks(), { tokenIn: 'ABUSD', tokenOut: 'pathUSD', exact: 'in', amount: 1n })).toBeNull()
  })
})
