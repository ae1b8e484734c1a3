import type { RecordedList } from './rows.js'

type Lists = readonly Pick<RecordedList, 'holds_from' | 'stables'>[]
/** A pair of the exchange and when it was made, in Unix seconds. */
type Pair = { base: unknown; quote: unknown; at: number }

type CreatedStable = { stable: string; block_number: number | string }
type Facts = { lists: Lists; pairs: readonly Pair[] }

/** Whether a stable is on the token list of an instant. */
export const isListed = (lists: Lists, stable: string, at: number): boolean =>
  lists.findLast(({ holds_from }) => holds_from <= at)?.stables.includes(stable) === true

/** "In use" of the methodology: as old as the chain, listed, or with a pair on the exchange by then. */
export const isInUse = ({ stable, block_number }: CreatedStable, { lists, pairs }: Facts, at: number): boolean =>
  Number(block_number) === 0 ||
  isListed(lists, stable, at) ||
  pairs.some((pair) => pair.at <= at && (pair.base === stable || pair.quote === stable))

/** The newest slot of this period up to an instant at which a stable is in use: that of its newest snapshot. Null if none. */
export function newestSlot(
  created: CreatedStable & { t: number },
  facts: Facts,
  asOf: number,
  period: number,
): number | null {
  const slotOf = (at: number): number => Math.floor(at / period) * period
  // A stable may be taken off the list; the last slot before keeps its snapshot.
  const listEnds = facts.lists.map(({ holds_from }) => holds_from - 1).filter((end) => end < asOf)
  const slots = [asOf, ...listEnds.toReversed()].map(slotOf)
  return slots.find((at) => at >= created.t && isInUse(created, facts, at)) ?? null
}
