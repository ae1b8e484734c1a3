import { accounts } from './accounts.js'
import { FIRST_TRADING_BLOCK } from './clock.js'
import type { Episode } from './episodes.js'
import type { MarketPlan } from './plan.js'
import { type Random, randomFor } from './random.js'
import { PATH_USD } from './stables.js'

/** A swap on the DEX, by symbol. `amount` is micro-units of `tokenIn` when exact in, of `tokenOut` when exact out. */
export type Swap = { tokenIn: string; tokenOut: string; exact: 'in' | 'out'; amount: bigint }

/** What an account other than the market maker intends to do in a block. Traders are indices into `accounts.traders`. */
export type Action =
  | { kind: 'swap'; trader: number; swap: Swap }
  /** Two swaps as two calls of one transaction (type 0x76). */
  | { kind: 'batch'; trader: number; swaps: readonly [Swap, Swap] }
  /** Fills a small order of the flip maker, which flips to the ask side; the rest fills the top of the book. */
  | { kind: 'flip'; trader: number; stable: string; flipAmount: bigint; swapAmount: bigint }
  | { kind: 'transfer'; trader: number; to: number; stable: string; amount: bigint; memo: boolean }
  | { kind: 'mint' | 'burn'; stable: string; amount: bigint }
  | { kind: 'pause' | 'unpause'; stable: string }

const TOKEN = 10n ** 6n
/** Most mints of one episode. Together they never reach a stable's supply cap. */
const MOST_MINTS = 12
/** Least and most tokens of a swap of a burst. */
export const BURST_TOKENS = [4_000, 15_000] as const
/** Powers of ten between which the tokens of any other swap lie, log-uniform: many small swaps, few large ones. */
const SWAP_POWERS = { from: 2, range: 2.2 } as const
/** Mean tokens of such a swap. */
export const MEAN_SWAP_TOKENS =
  (10 ** (SWAP_POWERS.from + SWAP_POWERS.range) - 10 ** SWAP_POWERS.from) / (SWAP_POWERS.range * Math.LN10)
/** Longest route of a planned swap, in hops. */
export const MAX_HOPS = 3

/** The administrative actions of a block, which come before all its other actions. */
export function adminActions(plan: MarketPlan, block: number): Action[] {
  const actions: Action[] = []
  for (const e of plan.episodes(block, block + 1)) {
    if (e.kind === 'pause' && e.fromBlock === block) actions.push({ kind: 'pause', stable: e.stable })
    if (e.kind === 'issuance') actions.push(...issuance(e, block))
  }
  for (const e of plan.episodes(block - 1, block)) {
    if (e.kind === 'pause' && e.toBlock === block) actions.push({ kind: 'unpause', stable: e.stable })
  }
  return actions
}

/** What traders intend to do in a block, in order. Never uses a paused stable or an empty side of a book. */
export function traderActions(plan: MarketPlan, block: number): Action[] {
  if (block < FIRST_TRADING_BLOCK) return []
  const random = randomFor(plan.params.seed, 'trade', block)
  const actions: Action[] = []
  for (const e of plan.episodesAt(block)) {
    if (e.kind !== 'burst') continue
    const { stable: tokenIn, to: tokenOut } = e
    for (let i = 0; i < e.swaps; i++) {
      const swap: Swap = { tokenIn, tokenOut, exact: 'in', amount: micro(random, ...BURST_TOKENS) }
      if (isOpen(plan, swap, block)) actions.push({ kind: 'swap', trader: trader(random), swap })
    }
  }
  for (let i = actionCount(plan, block, random); i > 0; i--) {
    const action = oneAction(plan, block, random)
    if (action) actions.push(action)
  }
  return actions
}

/**
 * Number of hops of a swap: from one stable up through its quote tokens, then down to the other. 0 if both are the
 * same.
 */
export function hops(plan: MarketPlan, swap: Pick<Swap, 'tokenIn' | 'tokenOut'>): number {
  const { sells, buys } = route(plan, swap)
  return sells.length + buys.length
}

/**
 * The books that a swap goes through, by symbol: first those where the taker sells the base, then those where it buys.
 */
export function route(plan: MarketPlan, swap: Pick<Swap, 'tokenIn' | 'tokenOut'>): { sells: string[]; buys: string[] } {
  const up = symbolsToPathUsd(plan, swap.tokenIn)
  const down = symbolsToPathUsd(plan, swap.tokenOut)
  while (up.length > 0 && up.at(-1) === down.at(-1)) {
    up.pop()
    down.pop()
  }
  return { sells: up, buys: down.reverse() }
}

const symbolsToPathUsd = (plan: MarketPlan, symbol: string): string[] =>
  symbol === PATH_USD.symbol ? [] : plan.routeToPathUsd(symbol).map((s) => s.symbol)

/** How many actions a block has: sometimes none; more in a minute of history than in a live second. */
function actionCount(plan: MarketPlan, block: number, random: Random): number {
  const live = block > plan.params.blocks
  const seconds = live ? plan.params.liveBlockSeconds : plan.params.blockSeconds
  if (random.chance(seconds >= 30 ? 0.08 : 0.35)) return 0
  return seconds >= 30 ? random.int(2, 6) : random.int(1, 2)
}

function oneAction(plan: MarketPlan, block: number, random: Random): Action | null {
  const draw = random.next()
  if (draw < 0.1) return transfer(plan, block, random)
  if (draw < 0.11) {
    const stable = random.pick(plan.stables.filter((s) => s.hasPair)).symbol
    const { bidTick } = plan.topOfBook(stable, block)
    const open = bidTick !== null && !plan.isPaused(stable, block) && bidTick < 1900
    if (!open || plan.topOfBook(stable, block).askTick === null) return null
    const flipAmount = micro(random, 150, 400)
    return { kind: 'flip', trader: trader(random), stable, flipAmount, swapAmount: flipAmount * 3n }
  }
  const first = aSwap(plan, block, random)
  if (!first) return null
  if (draw < 0.2) {
    const second = aSwap(plan, block, random)
    if (second) return { kind: 'batch', trader: trader(random), swaps: [first, second] }
  }
  return { kind: 'swap', trader: trader(random), swap: first }
}

function aSwap(plan: MarketPlan, block: number, random: Random): Swap | null {
  const listed = plan.stables.filter((s) => s.hasPair).map((s) => s.symbol)
  const one = random.pick(listed)
  // Half of all trade is against pathUSD, as on any chain with one reserve stable. Both directions are equally likely,
  // so that no trader runs out of a stable in the long run.
  const other = random.chance(0.5) ? PATH_USD.symbol : random.pick(listed)
  const [tokenIn, tokenOut] = random.chance(0.5) ? [one, other] : [other, one]
  const exact = random.chance(0.6) ? 'in' : 'out'
  const amount =
    micro(random, 1, 1) + BigInt(Math.floor(10 ** (SWAP_POWERS.from + SWAP_POWERS.range * random.next()) * 1e6))
  const swap: Swap = { tokenIn, tokenOut, exact, amount }
  return isOpen(plan, swap, block) ? swap : null
}

/** Whether the market can execute a swap in a block: its route is short enough, not paused, and has orders. */
export function isOpen(plan: MarketPlan, swap: Pick<Swap, 'tokenIn' | 'tokenOut'>, block: number): boolean {
  const { sells, buys } = route(plan, swap)
  const length = sells.length + buys.length
  if (length === 0 || length > MAX_HOPS) return false
  if ([swap.tokenIn, swap.tokenOut, ...sells, ...buys].some((s) => s !== PATH_USD.symbol && plan.isPaused(s, block))) {
    return false
  }
  return (
    sells.every((s) => plan.topOfBook(s, block).bidTick !== null) &&
    buys.every((s) => plan.topOfBook(s, block).askTick !== null)
  )
}

function transfer(plan: MarketPlan, block: number, random: Random): Action | null {
  const stable = random.pick(plan.stables).symbol
  if (plan.isPaused(stable, block)) return null
  const from = trader(random)
  const to = (from + random.int(1, accounts.traders.length - 1)) % accounts.traders.length
  return { kind: 'transfer', trader: from, to, stable, amount: micro(random, 5, 5_000), memo: random.chance(0.3) }
}

function issuance(e: Extract<Episode, { kind: 'issuance' }>, block: number): Action[] {
  // As many burns as mints, so that supply returns to its start and never reaches the cap.
  const half = Math.floor((e.toBlock - e.fromBlock) / 2)
  const every = Math.ceil(half / MOST_MINTS)
  const at = block - e.fromBlock
  if (at < half && at % every === 0) return [{ kind: 'mint', stable: e.stable, amount: e.amount }]
  if (at >= half && at < 2 * half && (at - half) % every === 0) {
    return [{ kind: 'burn', stable: e.stable, amount: e.amount }]
  }
  return []
}

const trader = (random: Random): number => random.int(0, accounts.traders.length - 1)

/** A whole number of tokens in [min, max] and a random fraction, in micro-units. */
const micro = (random: Random, min: number, max: number): bigint =>
  BigInt(random.int(min, max)) * TOKEN + BigInt(random.int(0, 999_999))
