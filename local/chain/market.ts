import type { Address } from 'viem'
import { accounts } from './accounts.js'
import { type Action, adminActions, hops, type Swap, traderActions } from './actions.js'
import { applyFills, type Books, type Ladders, outcomeOf, topOrder } from './books.js'
import { type Call, call } from './calls.js'
import { FIRST_TRADING_BLOCK, SETUP } from './clock.js'
import { setupIntents } from './genesis.js'
import type { Intent } from './intent.js'
import { type BookOrder, flipTicks, ladderChanges, wantedLadder } from './ladder.js'
import { periodicIntents } from './periodic.js'
import type { MarketPlan } from './plan.js'
import { GENESIS_STABLES, PATH_USD } from './stables.js'

/** The market maker's orders while a block is composed: those on the DEX, and those that the block will place. */
type Draft = Map<string, BookOrder[]>

/**
 * The transactions of one block, in order. `books` are those at the end of the block before, and are left as they are:
 * what the block does to them is in its logs. Without transactions of others, all of them succeed.
 */
export function blockIntents(plan: MarketPlan, books: Books, block: number): Intent[] {
  if (block < SETUP.books) return setupIntents(plan, block)
  const draft: Draft = new Map([...books.ladders].map(([symbol, orders]) => [symbol, orders.map((o) => ({ ...o }))]))
  const intents: Intent[] = periodicIntents(plan, block)
  // Administration first: in this block, the maker and the traders already use a token that it unpauses.
  for (const action of adminActions(plan, block)) intents.push(admin(plan, action))
  if (books.flips.length > 0)
    intents.push({ label: 'cancel flipped orders', from: accounts.flipMaker, calls: books.flips.map(call.cancel) })
  for (const t of plan.tokens) if (t.hasPair) intents.push(...moveOrders(plan, books, draft, t.symbol, block))
  if (block < FIRST_TRADING_BLOCK) return intents
  for (const action of traderActions(plan, block)) intents.push(...trade(plan, draft, action, block))
  return intents
}

function moveOrders(plan: MarketPlan, books: Books, draft: Draft, symbol: string, block: number): Intent[] {
  if (plan.isPaused(symbol, block)) return []
  const { address } = plan.token(symbol)
  const resting = books.ladders.get(symbol) ?? []
  const { cancel, place } = ladderChanges(resting, wantedLadder(plan.topOfBook(symbol, block)))
  if (cancel.length + place.length === 0) return []
  const gone = new Set(cancel)
  const kept = resting.filter((o) => !gone.has(o))
  draft.set(
    symbol,
    [...kept, ...place].map((o) => ({ remaining: o.amount, ...o })),
  )
  // The setup approves only the market's own stables for the DEX. Genesis stables are approved with their first orders,
  // so that a chain created without their books gets them at its next start.
  const opensGenesisBook = resting.length === 0 && GENESIS_STABLES.some((g) => g.symbol === symbol)
  const calls: Call[] = [
    ...(opensGenesisBook ? [call.approveDex(address)] : []),
    ...cancel.map((o) => call.cancel(o.id)),
    ...place.map((level) => call.place(address, level)),
  ]
  return [{ label: `move the orders of ${symbol}`, from: accounts.maker, calls }]
}

function admin(plan: MarketPlan, action: Action): Intent {
  if (action.kind === 'pause' || action.kind === 'unpause') {
    const { address } = plan.stable(action.stable)
    const calls = [action.kind === 'pause' ? call.pause(address) : call.unpause(address)]
    return { label: `${action.kind} ${action.stable}`, from: accounts.guardian, calls }
  }
  if (action.kind === 'mint' || action.kind === 'burn') {
    const { address } = plan.stable(action.stable)
    const calls = [
      action.kind === 'mint'
        ? call.mint(address, accounts.issuer.address, action.amount)
        : call.burn(address, action.amount),
    ]
    return { label: `${action.kind} ${action.stable}`, from: accounts.issuer, calls }
  }
  throw new Error(`${action.kind} is not an administrative action`)
}

function trade(plan: MarketPlan, draft: Ladders, action: Action, block: number): Intent[] {
  if (!('trader' in action)) throw new Error(`${action.kind} is not a trader's action`)
  const from = accounts.traders[action.trader]
  if (!from) throw new Error(`there is no trader ${action.trader}`)
  switch (action.kind) {
    case 'transfer': {
      const token = plan.stable(action.stable).address
      const to = accounts.traders[action.to]?.address as Address
      const transfer = action.memo
        ? call.transferWithMemo(token, to, action.amount, block)
        : call.transfer(token, to, action.amount)
      return [{ label: `transfer ${action.stable}`, from, calls: [transfer] }]
    }
    case 'swap': {
      const swapped = swapCall(plan, draft, action.swap)
      return swapped ? [{ label: describe(plan, action.swap), from, calls: [swapped] }] : []
    }
    case 'batch': {
      const calls = action.swaps.flatMap((swap) => swapCall(plan, draft, swap) ?? [])
      const label = action.swaps.map((swap) => describe(plan, swap)).join(' and ')
      return calls.length > 0 ? [{ label, from, calls }] : []
    }
    case 'flip':
      return flip(plan, draft, action, from)
  }
}

/** The call for a swap, whose fills are subtracted from the draft; null if an order is too small for it. */
function swapCall(plan: MarketPlan, draft: Ladders, swap: Swap): Call | null {
  const outcome = outcomeOf(plan, draft, swap)
  if (!outcome) return null
  applyFills(outcome.fills)
  const addressOf = (symbol: string): Address =>
    symbol === PATH_USD.symbol ? PATH_USD.address : plan.stable(symbol).address
  return call.swap(addressOf(swap.tokenIn), addressOf(swap.tokenOut), swap)
}

function flip(
  plan: MarketPlan,
  draft: Ladders,
  { stable, flipAmount, swapAmount }: Extract<Action, { kind: 'flip' }>,
  from: (typeof accounts.traders)[number],
): Intent[] {
  const top = topOrder(draft, stable, true)
  const rest = swapAmount - flipAmount
  if (!top || rest >= top.remaining) return []
  const { address, quote } = plan.stable(stable)
  const quoteAddress = quote === PATH_USD.symbol ? PATH_USD.address : plan.stable(quote).address
  const { tick, flipTick } = flipTicks(top.tick)
  applyFills([{ order: top, base: rest }])
  const swap: Swap = { tokenIn: stable, tokenOut: quote, exact: 'in', amount: swapAmount }
  return [
    {
      label: `place a flip order of ${stable}`,
      from: accounts.flipMaker,
      calls: [call.placeFlip(address, { amount: flipAmount, isBid: true, tick }, flipTick)],
    },
    { label: `${describe(plan, swap)} through two orders`, from, calls: [call.swap(address, quoteAddress, swap)] },
  ]
}

const describe = (plan: MarketPlan, swap: Swap): string =>
  `swap ${swap.tokenIn} to ${swap.tokenOut}, exact ${swap.exact}, ${hops(plan, swap)} hops`
