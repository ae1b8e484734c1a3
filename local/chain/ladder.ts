import { type PlannedTop, SPREAD_TICKS } from './plan.js'

/** An order as it is placed. `amount` is micro-units of base. */
export type Level = { isBid: boolean; tick: number; amount: bigint }
/**
 * An order that the market maker wants on the book. A resting order up to `slackTicks` further from 1 also counts as
 * it.
 */
export type WantedLevel = Level & { slackTicks: number }
/** An order on a book. `remaining`: micro-units of base not filled yet. */
export type BookOrder = Level & { remaining: bigint }
/** An order that rests on the DEX, which gave it its id. */
export type RestingOrder = BookOrder & { id: bigint }

const MILLION = 10n ** 12n
/** Size of an order in micro-units of base: at the best price, near it, and far away, where it is never moved. */
const DEPTH = { top: MILLION / 2n, middle: 2n * MILLION, far: 5n * MILLION } as const
/** The far level lies beyond every planned break, so that it never becomes the best price. */
const FAR_TICK = 1900
/** Nearest tick of the middle level. It lies beyond calm drift, so that drift moves only one order on each side. */
const MIDDLE_TICK = 150
const MIDDLE_GAP_TICKS = 80
/** After a break, the middle level stays where the break moved it unless it is further away than this. */
const MIDDLE_SLACK_TICKS = 450

/** The orders that produce the planned top of book: three levels on each side, none on an empty side. */
export function wantedLadder({ bidTick, askTick }: PlannedTop): WantedLevel[] {
  const side = (isBid: boolean, topTick: number): WantedLevel[] => {
    const away = isBid ? -1 : 1
    const middle = away * Math.max(MIDDLE_TICK, away * topTick + MIDDLE_GAP_TICKS)
    return [
      { isBid, tick: topTick, amount: DEPTH.top, slackTicks: 0 },
      { isBid, tick: middle, amount: DEPTH.middle, slackTicks: MIDDLE_SLACK_TICKS },
      { isBid, tick: away * FAR_TICK, amount: DEPTH.far, slackTicks: 0 },
    ]
  }
  return [...(bidTick === null ? [] : side(true, bidTick)), ...(askTick === null ? [] : side(false, askTick))]
}

/**
 * The cancels and then the placements that turn the resting orders into the wanted ones. An order of the right size and
 * tick with at least half remaining is kept, so most blocks change nothing. That matters because each order permanently
 * takes seven slots of the state that the node copies for every block.
 */
export function ladderChanges(
  resting: readonly RestingOrder[],
  wanted: readonly WantedLevel[],
): { cancel: RestingOrder[]; place: Level[] } {
  const kept = new Set<RestingOrder>()
  const place: Level[] = []
  for (const level of wanted) {
    const match = resting.find((order) => !kept.has(order) && serves(order, level))
    if (match) kept.add(match)
    else place.push({ isBid: level.isBid, tick: level.tick, amount: level.amount })
  }
  return { cancel: resting.filter((order) => !kept.has(order)), place }
}

function serves(order: RestingOrder, { isBid, tick, amount, slackTicks }: WantedLevel): boolean {
  const further = isBid ? tick - order.tick : order.tick - tick
  return (
    order.isBid === isBid &&
    order.amount === amount &&
    order.remaining * 2n >= amount &&
    further >= 0 &&
    further <= slackTicks
  )
}

/** The tick of the flip maker's order, between the best bid and the best ask, and the tick it flips to. */
export function flipTicks(bidTick: number): { tick: number; flipTick: number } {
  return { tick: bidTick + SPREAD_TICKS / 2, flipTick: bidTick + SPREAD_TICKS + 10 }
}
