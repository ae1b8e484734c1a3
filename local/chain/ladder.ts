import { type PlannedTop, SPREAD_TICKS } from './plan.js'

/** An order as it is placed. `amount` is micro-units of base. */
export type Level = { isBid: boolean; tick: number; amount: bigint }
/** An order the market maker wants to have. One that rests up to `slackTicks` further from 1 does as well. */
export type WantedLevel = Level & { slackTicks: number }
/** An order that rests on the DEX. `remaining`: micro-units of base not filled yet. */
export type RestingOrder = Level & { id: bigint; remaining: bigint }

const MILLION = 10n ** 12n
/** Micro-units of base at the best price; in reach of the top; and far away, where it stays put. */
const DEPTH = { top: MILLION / 2n, middle: 2n * MILLION, far: 5n * MILLION } as const
/** The far level: beyond every planned break, so that it never becomes the price. */
const FAR_TICK = 1900
/** Nearest tick of the middle level: beyond calm drift, so that drift moves one order a side and not two. */
const MIDDLE_TICK = 150
const MIDDLE_GAP_TICKS = 80
/** After a break the middle level stays where the break had pushed it, unless that is further than this. */
const MIDDLE_SLACK_TICKS = 450

/** The orders that make the planned top of book: three levels a side, none on a dry side. */
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
 * What turns the resting orders into the wanted ones: cancels, then places. An order with the right size and place and at
 * least half of it left is kept, so most blocks change nothing. That matters: an order leaves seven slots behind for
 * ever in the state that the node copies for every block.
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

/** Where an order for the other maker fits between the best bid and the best ask, and where it flips to. */
export function flipTicks(bidTick: number): { tick: number; flipTick: number } {
  return { tick: bidTick + SPREAD_TICKS / 2, flipTick: bidTick + SPREAD_TICKS + 10 }
}
