import { describe, expect, test } from 'vitest'
import { FIRST_TRADING_BLOCK, SETUP } from '../../clock.js'
import type { Episode } from '../../episodes.js'
import { type MarketPlan, planMarket } from '../../plan.js'
import { GENESIS_STABLES } from '../../stables.js'

const day = planMarket({ seed: 1, blocks: 1440, blockSeconds: 60, liveBlockSeconds: 1, stables: 10 })
const short = planMarket({ seed: 1, blocks: 120, blockSeconds: 60, liveBlockSeconds: 1, stables: 10 })

const ofKind = <K extends Episode['kind']>(plan: MarketPlan, kind: K, from = 0, to = plan.params.blocks + 1) =>
  plan.episodes(from, to).filter((e): e is Episode & { kind: K } => e.kind === kind)

describe('the planned stables', () => {
  test('have every trait of the market', () => {
    const { stables } = day
    expect(stables.filter((s) => s.currency === 'USD').length).toBeGreaterThanOrEqual(8)
    expect(stables.filter((s) => s.currency !== 'USD' && !s.hasPair)).toHaveLength(1)
    expect(stables.filter((s) => s.supplyCap === null)).toHaveLength(1)
    expect(new Set(stables.map((s) => s.policy))).toEqual(new Set(['allow_all', 'blacklist', 'whitelist', 'compound']))
    expect(stables.filter((s) => s.quote !== 'pathUSD').map((s) => s.quote)).toEqual(['ABUSD', 'BWUSD'])
    expect(stables.some((s) => s.pausable)).toBe(true)
    expect(stables.filter((s) => s.temperament === 'volatile').length).toBeGreaterThanOrEqual(3)
  })

  test('have every trait even in the smallest market, and addresses that do not depend on its size', () => {
    const largest = planMarket({ ...day.params, stables: 60 })
    expect(new Set(largest.stables.map((s) => s.address)).size).toBe(60)
    expect(new Set(largest.stables.map((s) => s.symbol)).size).toBe(60)
    expect(largest.stables.slice(0, 10)).toEqual(day.stables)
    expect(planMarket({ ...day.params, stables: 9 }).stables).toEqual(day.stables.slice(0, 9))
  })

  test('have more supply than the market distributes, and caps above their supply', () => {
    for (const { initialSupply, supplyCap } of planMarket({ ...day.params, stables: 60 }).stables) {
      expect(initialSupply).toBeGreaterThanOrEqual(70_000_000n * 10n ** 6n)
      if (supplyCap !== null) expect(supplyCap).toBeGreaterThan(initialSupply + 10_000_000n * 10n ** 6n)
    }
  })
})

describe('the genesis stables', () => {
  test('are added to those that the market creates, whatever their number', () => {
    for (const stables of [9, 10, 60]) {
      const plan = planMarket({ ...day.params, stables })
      expect(plan.stables).toHaveLength(stables)
      const onTop = plan.tokens.slice(stables)
      expect(plan.tokens.slice(0, stables)).toEqual(plan.stables)
      expect(onTop.map((t) => t.symbol)).toEqual(['AlphaUSD', 'BetaUSD', 'ThetaUSD'])
      for (const [i, { address }] of onTop.entries()) {
        expect(address).toBe(`0x20c000000000000000000000000000000000000${i + 1}`)
      }
    }
    expect(() => day.stable('AlphaUSD')).toThrow('AlphaUSD')
  })

  test('have no episodes, and their quotes are always near 1', () => {
    for (const { symbol } of GENESIS_STABLES) {
      for (let block = SETUP.books; block <= 5_000; block++) {
        const { status, deviationBps } = day.quoteAt(symbol, block)
        expect(status).toBe('quoted')
        expect(Math.abs(deviationBps ?? Infinity)).toBeLessThanOrEqual(3)
      }
      expect(day.quoteAt(symbol, SETUP.books - 1).status).toBe('no_pair')
      expect(day.episodes(0, 5_000).some((e) => e.stable === symbol || ('to' in e && e.to === symbol))).toBe(false)
    }
  })
})

describe('the episodes', () => {
  test('of a day include every kind, with breaks of the right size and length', () => {
    for (const kind of ['mild_break', 'severe_break', 'blip', 'dry', 'burst', 'issuance', 'pause'] as const) {
      expect(ofKind(day, kind).length, kind).toBeGreaterThanOrEqual(5)
    }
    for (const e of ofKind(day, 'mild_break')) {
      expect(Math.abs(e.sizeBps)).toBeGreaterThan(11)
      expect(Math.abs(e.sizeBps)).toBeLessThan(50)
      expect((e.toBlock - e.fromBlock) * 60).toBeGreaterThanOrEqual(300)
    }
    for (const e of ofKind(day, 'severe_break')) {
      expect(Math.abs(e.sizeBps)).toBeGreaterThan(51)
      expect((e.toBlock - e.fromBlock) * 60).toBeGreaterThanOrEqual(60)
    }
  })

  test('of two hours still include every kind, and a mild break of five minutes', () => {
    for (const kind of ['mild_break', 'severe_break', 'dry', 'burst', 'issuance', 'pause'] as const) {
      expect(ofKind(short, kind).length, kind).toBeGreaterThanOrEqual(1)
    }
    for (const e of ofKind(short, 'mild_break')) expect((e.toBlock - e.fromBlock) * 60).toBeGreaterThanOrEqual(300)
  })

  test('never end: every hour of live blocks has some, with lengths in live seconds', () => {
    for (let from = 121; from < 121 + 24 * 3600; from += 3600) {
      const here = short.episodes(from, from + 3600)
      expect(here.length).toBeGreaterThanOrEqual(2)
    }
    for (const e of ofKind(short, 'mild_break', 121, 40_000)) {
      expect(e.toBlock - e.fromBlock).toBeGreaterThanOrEqual(300)
      expect(e.toBlock - e.fromBlock).toBeLessThanOrEqual(600)
    }
  })

  test('of one stable have a calm block between them', () => {
    const ends = new Map<string, number>()
    for (const e of day.episodes(0, 20_000)) {
      expect(e.fromBlock).toBeGreaterThan(ends.get(e.stable) ?? 0)
      ends.set(e.stable, e.toBlock)
    }
  })

  test('are the same only for the same seed', () => {
    const episodes = (seed: number) => planMarket({ ...day.params, seed }).episodes(0, 5_000)
    expect(episodes(1)).toEqual(episodes(1))
    expect(episodes(2)).not.toEqual(episodes(1))
  })

  test('are the same by block and by range', () => {
    const byRange = day.episodes(0, 3_000)
    const byBlock = new Set<Episode>()
    for (let block = 0; block < 3_000; block++) for (const e of day.episodesAt(block)) byBlock.add(e)
    expect([...byBlock]).toEqual(byRange)
  })
})

describe('the prices', () => {
  test('of a direct pair are those of the break in each of its blocks', () => {
    for (const kind of ['mild_break', 'severe_break', 'blip'] as const) {
      for (const e of ofKind(day, kind)) {
        for (let block = e.fromBlock; block < e.toBlock; block++) {
          expect(day.quoteAt(e.stable, block).deviationBps).toBe(e.sizeBps)
        }
        for (const block of [e.fromBlock - 1, e.toBlock]) {
          expect(Math.abs(day.quoteAt(e.stable, block).deviationBps ?? Infinity)).toBeLessThanOrEqual(5)
        }
      }
    }
  })

  test('drift within 5 bps outside of episodes, and are not constant', () => {
    for (const { symbol, hasPair } of day.tokens) {
      if (!hasPair) continue
      const seen = new Set<number>()
      for (let block = FIRST_TRADING_BLOCK; block <= 1440; block++) {
        if (day.episodesAt(block).some((e) => e.stable === symbol)) continue
        const { bidTick, askTick } = day.topOfBook(symbol, block)
        const mid = ((bidTick ?? Infinity) + (askTick ?? Infinity)) / 20
        expect(Math.abs(mid)).toBeLessThanOrEqual(5)
        seen.add(mid)
      }
      expect(seen.size).toBeGreaterThan(2)
    }
  })

  test('change by at most one basis point from history to live blocks', () => {
    for (const { symbol, hasPair } of day.tokens) {
      if (!hasPair || day.episodesAt(1440).length + day.episodesAt(1441).length > 0) continue
      const [before, after] = [1440, 1441].map((block) => day.topOfBook(symbol, block).bidTick ?? Infinity)
      expect(Math.abs((before as number) - (after as number))).toBeLessThanOrEqual(10)
    }
  })

  test('of a stable quoted in another follow from both books, each rounded down', () => {
    const block = 700
    const [own, quote] = ['FJUSD', 'ABUSD'].map((s) => BigInt(day.topOfBook(s, block).bidTick ?? 0))
    const inQuote = (1_000_000n * (100_000n + (own as bigint))) / 100_000n
    expect(day.quoteAt('FJUSD', block).sell).toBe((inQuote * (100_000n + (quote as bigint))) / 100_000n)
  })

  test('are missing for an empty book, a paused stable, a stable without a pair, and before the books open', () => {
    const [dry] = ofKind(day, 'dry')
    const [pause] = ofKind(day, 'pause')
    expect(day.quoteAt(dry?.stable ?? '', dry?.fromBlock ?? 0)).toMatchObject({ status: 'no_liquidity', sell: null })
    expect(day.quoteAt(pause?.stable ?? '', pause?.fromBlock ?? 0)).toMatchObject({ status: 'paused', sell: null })
    expect(day.quoteAt('JNEUR', 700)).toEqual({ status: 'no_pair', sell: null, buy: null, deviationBps: null })
    expect(day.quoteAt('ABUSD', 3).status).toBe('no_pair')
    expect(day.quoteAt('ABUSD', 4).status).toBe('quoted')
  })

  test('of an unknown stable throw an error that names it', () => {
    expect(() => day.quoteAt('NOPE', 1)).toThrow('NOPE')
  })
})
