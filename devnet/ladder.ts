import { type PlannedTop, SPREAD_TICKS } from './plan.js'

/** One order that the market maker wants to have, or has. `amount` is micro-units of base. */
export type Level = { isBid: boolean; tick: number; amount: bigint }
/** An order that rests on the DEX. `remaining`: micro-units of base not filled yet. */
export type RestingOrder = Level & { id: bigint; remaining: bigint }

const MILLION = 10n ** 12n
/** Micro-units of base at the best price; in reach of the top; and far away, where it stays put. */
export const DEPTH = { top: MILLION / 2n, middle: 2n * MILLION, far: 5n * MILLION } as const
/** The far level: beyond every planned break, so that it never becomes the price. */
const FAR_TICK = 1900
/** Nearest tick of the middle level: beyond calm drift, so that drift moves one order a side and not two. */
const MIDDLE_TICK = 150
const MIDDLE_GAP_TICKS = 80

/** The orders that make the planned top of book: three levels a side, none on a dry side. */
export function desiredLadder({ bidTick, askTick }: PlannedTop): Level[] {
  const levels: Level[] = []
  if (bidTick !== null) {
    levels.push({ isBid: true, tick: bidTick, amount: DEPTH.top })
    levels.push({ isBid: true, tick: Math.min(-MIDDLE_TICK, bidTick - MIDDLE_GAP_TICKS), amount: DEPTH.middle })
    levels.push({ isBid: true, tick: -FAR_TICK, amount: DEPTH.far })
  }
  if (askTick !== null) {
    levels.push({ isBid: false, tick: askTick, amount: DEPTH.top })
    levels.push({ isBid: false, tick: Math.max(MIDDLE_TICK, askTick + MIDDLE_GAP_TICKS), amount: DEPTH.middle })
    levels.push({ isBid: false, tick: FAR_TICK, amount: DEPTH.far })
  }
  return levels
}

/**
 * What turns the resting orders into the desired ones: cancels, then places. An order is kept when it has the right
 * tick, size and at least half of it left; so most blocks change nothing.
 */
export function ladderChanges(
  resting: readonly RestingOrder[],
  desired: readonly Level[],
): { cancel: RestingOrder[]; place: Level[] } {
  const kept = new Set<RestingOrder>()
  const place: Level[] = []
  for (const level of desired) {
    const match = resting.find(
      (o) =>
        !kept.has(o) &&
        o.isBid === level.isBid &&
        o.tick === level.tick &&
        o.amount === level.amount &&
        o.remaining * 2n >= level.amount,
    )
    if (match) kept.add(match)
    else place.push(level)
  }
  return { cancel: resting.filter((o) => !kept.has(o)), place }
}

/** Where an order for the other maker fits between the best bid and the best ask, and where it flips to. */
export function flipTicks(bidTick: number): { tick: number; flipTick: number } {
  return { tick: bidTick + SPREAD_TICKS / 2, flipTick: bidTick + SPREAD_TICKS + 10 }
}
