import { z } from 'zod'
import { type Cell, FIRST_TRADING_BLOCK, type MarketClock, marketClock, SETUP } from './clock.js'
import { baseForQuote, quoteForBase } from './dex-math.js'
import { cellEpisodes, type Episode } from './episodes.js'
import { randomFor } from './random.js'
import { GENESIS_STABLES, PATH_USD, type PlannedStable, type PlannedToken, planStables } from './stables.js'

/** The parameters of a market. The same values always give the same plan. */
export const PlanParams = z.object({
  seed: z.int(),
  /** Number of the last block of history. */
  blocks: z.int(),
  /** Seconds from one block of history to the next. */
  blockSeconds: z.int(),
  /** Seconds from one live block to the next. */
  liveBlockSeconds: z.int(),
  /** How many stables the market creates, in addition to those of genesis. */
  stables: z.int(),
})
export type PlanParams = z.infer<typeof PlanParams>

/** Best ticks of a stable's own book at the end of a block; null if the side is empty. */
export type PlannedTop = { bidTick: number | null; askTick: number | null }

/** The DEX's quotes of one whole token against pathUSD, in micro-units; null if there is none. */
type PlannedQuote = {
  /** `paused`: the DEX refuses to quote the sale of a paused stable (`ContractPaused`) but still quotes its purchase. */
  status: 'quoted' | 'no_liquidity' | 'no_pair' | 'paused'
  /** pathUSD out for one token in: `quoteSwapExactAmountIn(token, pathUSD, 1e6)`. */
  sell: bigint | null
  /** Tokens out for one pathUSD in: `quoteSwapExactAmountIn(pathUSD, token, 1e6)`. */
  buy: bigint | null
  /** Distance of the sell quote from 1, in basis points. */
  deviationBps: number | null
}

export type MarketPlan = {
  params: PlanParams
  /** The stables that the market creates and trades, and that episodes happen to. */
  stables: readonly PlannedStable[]
  /** One of `stables`. Throws for any other symbol. */
  stable: (symbol: string) => PlannedStable
  /** Every token that has a quote: `stables`, then those of genesis. */
  tokens: readonly PlannedToken[]
  /** One of `tokens`. Throws for any other symbol. */
  token: (symbol: string) => PlannedToken
  /** The books that a swap to pathUSD goes through, in order: the token's own, its quote token's, and so on. */
  routeToPathUsd: (symbol: string) => readonly PlannedToken[]
  /** Episodes that overlap [from, to), by first block. They never end, as live blocks do not. */
  episodes: (from: number, to: number) => Episode[]
  episodesAt: (block: number) => Episode[]
  topOfBook: (symbol: string, block: number) => PlannedTop
  quoteAt: (symbol: string, block: number) => PlannedQuote
  isPaused: (symbol: string, block: number) => boolean
  /** The cell that a block lies in; null before trade begins and in the last blocks of history. */
  cellAt: (block: number) => Cell | null
}

/** Distance from best bid to best ask of every book, in ticks: 2 bps. */
export const SPREAD_TICKS = 20
const ONE_TOKEN = 10n ** 6n

/** The whole market as a function of block numbers: stables, episodes and prices. Pure: reads neither chain nor clock. */
export function planMarket(params: PlanParams): MarketPlan {
  const { seed } = params
  const stables = planStables(params.stables)
  const tokens: readonly PlannedToken[] = [...stables, ...GENESIS_STABLES]
  const clock = marketClock(params)
  const stable = lookup('stable', stables)
  const token = lookup('token', tokens)

  const cells = new Map<number, Episode[]>()
  const episodesOf = (cell: Cell): Episode[] => {
    let found = cells.get(cell.index)
    if (!found) {
      if (cells.size > 1000) cells.clear()
      found = cellEpisodes(seed, stables, cell)
      cells.set(cell.index, found)
    }
    return found
  }
  const episodesAt = (block: number): Episode[] => {
    const cell = clock.cellAt(block)
    return cell ? episodesOf(cell).filter((e) => e.fromBlock <= block && block < e.toBlock) : []
  }
  const episodes = (from: number, to: number): Episode[] => {
    const found: Episode[] = []
    for (let index = 0; clock.cellNumber(index).from < to; index++) {
      const cell = clock.cellNumber(index)
      if (cell.to > from) found.push(...episodesOf(cell).filter((e) => e.fromBlock < to && e.toBlock > from))
    }
    return found
  }
  const pauseOf = (symbol: string, block: number): Episode | undefined =>
    episodesAt(block).find((e) => e.stable === symbol && e.kind === 'pause')

  const topOfBook = (symbol: string, block: number): PlannedTop => {
    const { hasPair, temperament } = token(symbol)
    if (!hasPair || block < SETUP.books) return { bidTick: null, askTick: null }
    const here = episodesAt(block).filter((e) => e.stable === symbol)
    const dry = here.find((e) => e.kind === 'dry')
    const broken = here.find((e) => 'sizeBps' in e)
    const paused = here.find((e) => e.kind === 'pause')
    const bidTick =
      broken && 'sizeBps' in broken
        ? broken.sizeBps * 10
        : // Orders of a paused stable cannot be moved, so its price stays as it was before the pause.
          driftTick(seed, symbol, clock, paused ? paused.fromBlock - 1 : block, temperament === 'volatile' ? 4 : 2)
    return {
      bidTick: dry ? null : bidTick,
      askTick: dry?.kind === 'dry' && dry.side === 'both' ? null : bidTick + SPREAD_TICKS,
    }
  }

  const routeToPathUsd = (symbol: string): PlannedToken[] => {
    const route: PlannedToken[] = []
    for (let at = symbol; at !== PATH_USD.symbol; at = token(at).quote) route.push(token(at))
    return route
  }

  const quoteAt = (symbol: string, block: number): PlannedQuote => {
    if (!token(symbol).hasPair || block < SETUP.books) {
      return { status: 'no_pair', sell: null, buy: null, deviationBps: null }
    }
    const tops = routeToPathUsd(symbol).map((t) => topOfBook(t.symbol, block))
    const paused = pauseOf(symbol, block) !== undefined
    let sell: bigint | null = paused ? null : ONE_TOKEN
    for (const { bidTick } of tops) sell = sell === null || bidTick === null ? null : quoteForBase(sell, bidTick)
    let buy: bigint | null = ONE_TOKEN
    for (const { askTick } of tops.toReversed())
      buy = buy === null || askTick === null ? null : baseForQuote(buy, askTick)
    return {
      status: paused ? 'paused' : sell === null ? 'no_liquidity' : 'quoted',
      sell,
      buy,
      deviationBps: sell === null ? null : Number(sell - ONE_TOKEN) / 100,
    }
  }

  return {
    params,
    stables,
    stable,
    tokens,
    token,
    routeToPathUsd,
    episodes,
    episodesAt,
    topOfBook,
    quoteAt,
    cellAt: clock.cellAt,
    isPaused: (symbol, block) => pauseOf(symbol, block) !== undefined,
  }
}

function lookup<T extends PlannedToken>(kind: string, items: readonly T[]): (symbol: string) => T {
  const bySymbol = new Map(items.map((item) => [item.symbol, item]))
  return (symbol) => {
    const found = bySymbol.get(symbol)
    if (!found) throw new Error(`the plan has no ${kind} ${symbol}`)
    return found
  }
}

/** A bid, in ticks, that drifts up to `amplitudeBps` around one basis point below 1, so that the mid drifts around 1. */
function driftTick(seed: number, symbol: string, clock: MarketClock, block: number, amplitudeBps: number): number {
  const position = clock.latticeAt(Math.max(block, FIRST_TRADING_BLOCK - 1))
  const before = Math.floor(position)
  const point = (index: number): number => (2 * randomFor(seed, `drift ${symbol}`, index).next() - 1) * amplitudeBps
  const value = point(before) + (point(before + 1) - point(before)) * (position - before)
  return (Math.round(value) - 1) * 10
}
