import { keccak256, toHex } from 'viem'
import { BACKFILLED_FAMILIES, FAMILIES, type Family } from '../../clickhouse/chain/batches.js'
import type { CoveredRange } from '../../clickhouse/chain/covered-ranges.js'
import type { DeclaredGap } from '../../clickhouse/chain/gaps.js'

/** `count` distinct block numbers from `first` to `last`, oldest first; all of them if there are no more. */
export function sampleBlocks(first: number, last: number, count: number, seed: number): number[] {
  const size = last - first + 1
  if (size <= count) return Array.from({ length: Math.max(size, 0) }, (_, i) => first + i)
  const picked = new Set<number>()
  for (let i = 0; picked.size < count; i++) {
    picked.add(first + Number(BigInt(keccak256(toHex(`${seed}:${i}`))) % BigInt(size)))
  }
  return [...picked].sort((a, b) => a - b)
}

/** The stables for which a family is stored: all, or these; an empty list means none. */
type InFor = 'all' | readonly string[]

/**
 * Blocks, both ends included, for which the same data is stored. With `isPriced`, flows have their values where a price
 * exists.
 */
export type Stretch = { from: number; to: number; isIn: Readonly<Record<Family, InFor>>; isPriced: boolean }

const isInFor = (coverage: readonly CoveredRange[], family: Family, block: number): InFor => {
  const stables = new Set<string>()
  for (const range of coverage) {
    if (range.family !== family || block < range.from_block || block > range.to_block) continue
    if (range.stables.length === 0) return 'all'
    for (const stable of range.stables) stables.add(stable)
  }
  return [...stables].sort()
}

/** A gap in stored logs means that the node no longer had the prices when the logs were read. */
const isUnpriced = (gaps: readonly DeclaredGap[], block: number): boolean =>
  gaps.some(({ family, from_block, to_block }) => family === 'logs' && from_block <= block && block <= to_block)

/** The blocks from the first one with any data up to `last`, split where the stored data changes; oldest first. */
export function stretchesOf(coverage: readonly CoveredRange[], gaps: readonly DeclaredGap[], last: number): Stretch[] {
  const starts = [...coverage, ...gaps].flatMap(({ from_block, to_block }) => [from_block, to_block + 1])
  const cuts = [...new Set([...starts, last + 1])].filter((block) => block <= last + 1).sort((a, b) => a - b)
  const stretches = cuts.slice(0, -1).map((from, i) => ({
    from,
    to: (cuts[i + 1] as number) - 1,
    isIn: Object.fromEntries(FAMILIES.map((family) => [family, isInFor(coverage, family, from)])) as Stretch['isIn'],
    isPriced: !isUnpriced(gaps, from),
  }))
  return stretches.filter(({ isIn }) => FAMILIES.some((family) => isIn[family].length > 0))
}

/** Whether anything but the catalogue is stored. */
export const hasBlocks = ({ isIn }: Pick<Stretch, 'isIn'>): boolean =>
  BACKFILLED_FAMILIES.some((family) => isIn[family].length > 0)

/** Whether a family is stored for a stable. */
const isInForStable = (isIn: InFor, stable: string): boolean => isIn === 'all' || isIn.includes(stable)

/**
 * The ranges of blocks, both ends included, for which a family is stored for a stable, or for all; adjacent ranges are
 * merged.
 */
export function rangesOf(stretches: readonly Stretch[], family: Family, stable?: string): Array<[number, number]> {
  const ranges: Array<[number, number]> = []
  for (const { from, to, isIn } of stretches) {
    if (stable === undefined ? isIn[family] !== 'all' : !isInForStable(isIn[family], stable)) continue
    const before = ranges.at(-1)
    if (before && before[1] === from - 1) before[1] = to
    else ranges.push([from, to])
  }
  return ranges
}
