import type { Address } from 'viem'
import { accounts } from './accounts.js'
import { type Action, adminActions, hops, type Swap, traderActions } from './actions.js'
import { applyFills, type Books, outcomeOf, topOrder } from './books.js'
import { type Call, call } from './calls.js'
import { FIRST_TRADING_BLOCK, SETUP } from './clock.js'
import { setupIntents } from './genesis.js'
import type { Intent } from './intent.js'
import { flipTicks, ladderChanges, type RestingOrder, wantedLadder } from './ladder.js'
import { periodicIntents } from './periodic.js'
import type { MarketPlan } from './plan.js'
import { GENESIS_STABLES, PATH_USD } from './stables.js'

/**
 * The transactions of one block, in order. Advances `books` to the end of that block. Must be called block by block:
 * order ids and remaining amounts depend on the blocks before.
 */
export function blockIntents(plan: MarketPlan, books: Books, block: number): Intent[] {
  if (block < SETUP.books) return setupIntents(plan, block)
  const intents: Intent[] = periodicIntents(plan, block)
  // Administration first: in this block, the maker and the traders already use a token that it unpauses.
  for (const action of adminActions(plan, block)) intents.push(admin(plan, action))
  const flippedCalls = books.flipped.map((o) => call.cancel(o.id))
  if (flippedCalls.length > 0)
    intents.push({ label: 'cancel flipped orders', from: accounts.flipMaker, calls: flippedCalls })
  books.flipped = []
  for (const t of plan.tokens) if (t.hasPair) intents.push(...moveOrders(plan, books, t.symbol, block))
  if (block < FIRST_TRADING_BLOCK) return intents
  for (const action of traderActions(plan, block)) intents.push(...trade(plan, books, action, block))
  return intents
}

function moveOrders(plan: MarketPlan, books: Books, symbol: string, block: number): Intent[] {
  if (plan.isPaused(symbol, block)) return []
  const { address } = plan.token(symbol)
  const resting = books.ladders.get(symbol) ?? []
  const { cancel, place } = ladderChanges(resting, wantedLadder(plan.topOfBook(symbol, block)))
  if (cancel.length + place.length === 0) return []
  const gone = new Set(cancel)
  const placed: RestingOrder[] = place.map((level) => ({ ...level, id: books.nextOrderId++, remaining: level.amount }))
  books.ladders.set(symbol, [...resting.filter((o) => !gone.has(o)), ...placed])
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

function trade(plan: MarketPlan, books: Books, action: Action, block: number): Intent[] {
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
      const swapped = swapCall(plan, books, action.swap)
      return swapped ? [{ label: describe(plan, action.swap), from, calls: [swapped] }] : []
    }
    case 'batch': {
      const calls = action.swaps.flatMap((swap) => swapCall(plan, books, swap) ?? [])
      const label = action.swaps.map((swap) => describe(plan, swap)).join(' and ')
      return calls.length > 0 ? [{ label, from, calls }] : []
    }
    case 'flip':
      return flip(plan, books, action, from)
  }
}

/** The call for a swap, whose fills are subtracted from the books; null if an order is too small for it. */
function swapCall(plan: MarketPlan, books: Books, swap: Swap): Call | null {
  const outcome = outcomeOf(plan, books, swap)
  if (!outcome) return null
  applyFills(outcome.fills)
  const addressOf = (symbol: string): Address =>
    symbol === PATH_USD.symbol ? PATH_USD.address : plan.stable(symbol).address
  return call.swap(addressOf(swap.tokenIn), addressOf(swap.tokenOut), swap)
}

function flip(
  plan: MarketPlan,
  books: Books,
  { stable, flipAmount, swapAmount }: Extract<Action, { kind: 'flip' }>,
  from: (typeof accounts.traders)[number],
): Intent[] {
  const top = topOrder(books, stable, true)
  const rest = swapAmount - flipAmount
  if (!top || rest >= top.remaining) return []
  const { address, quote } = plan.stable(stable)
  const quoteAddress = quote === PATH_USD.symbol ? PATH_USD.address : plan.stable(quote).address
  const { tick, flipTick } = flipTicks(top.tick)
  // Up to hardfork T4, a flip creates a new order whose id follows that of the filled one.
  books.flipped.push({ id: books.nextOrderId + 1n, stable })
  books.nextOrderId += 2n
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
