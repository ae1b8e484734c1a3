import { describe, expect, test } from 'vitest'
import type { CoveredRange } from '../../../../clickhouse/chain/covered-ranges.js'
import { type FactRequest, missingRanges, segmentsOf } from '../../../../ingest/backfill/missing.js'

const FAMILIES = ['logs', 'pegs', 'state', 'transfers'] as const
const isOfStables = (family: string): boolean => family === 'pegs' || family === 'state'
const STABLES = ['a', 'b', 'c']

/** A pseudorandom stream of numbers, the same each time (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

type Cell = `${number} ${string} ${string}`
/** What a range of a family holds, block by block and stable by stable; logs and transfers are of no stable. */
const cellsOf = (from: number, to: number, family: string, stables: readonly string[]): Cell[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).flatMap((block) =>
    (isOfStables(family) ? stables : ['-']).map((stable): Cell => `${block} ${family} ${stable}`),
  )

describe('what is missing', () => {
  test('are exactly the wanted ranges that are not stored, each once, in whatever order ranges were read', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = randomFrom(seed)
      const some = <Item>(items: readonly Item[]) => items.filter(() => random(2) === 0)
      const covered: CoveredRange[] = []
      const inside = new Set<Cell>()
      for (let run = 0; run < 4; run++) {
        const [from, families] = [1 + random(20), some(FAMILIES)]
        const wanted: FactRequest = { from, to: from + random(15), families, stables: some(STABLES) }
        const expected = new Set(
          families
            .flatMap((family) => cellsOf(from, wanted.to, family, wanted.stables.length > 0 ? wanted.stables : STABLES))
            .filter((cell) => !inside.has(cell)),
        )
        const segments = segmentsOf(missingRanges(wanted, covered), 4, random(2) === 0)
        const read = segments.flatMap(({ from, to, scope: { families, only, except } }) => {
          const stables = (only.length > 0 ? only : STABLES).filter((stable) => !except.includes(stable))
          return families.flatMap((family) => cellsOf(from, to, family, stables))
        })
        expect(new Set(read)).toEqual(expected)
        expect(read).toHaveLength(expected.size)
        for (const { from, to, scope } of segments) {
          expect(Math.floor(from / 4)).toBe(Math.floor(to / 4))
          for (const family of scope.families) {
            const stables = isOfStables(family) ? [...scope.only] : []
            covered.push({ family, stables, from_block: from, to_block: to })
          }
        }
        for (const cell of expected) inside.add(cell)
      }
    }
  })

  test('are read newest first if requested', () => {
    const missing = missingRanges({ from: 3, to: 11, families: ['logs'], stables: [] }, [])
    const pairs = (newestFirst: boolean) => segmentsOf(missing, 5, newestFirst).map(({ from, to }) => [from, to])
    expect(pairs(false)).toEqual([
      [3, 4],
      [5, 9],
      [10, 11],
    ])
    expect(pairs(true)).toEqual(pairs(false).reverse())
  })
})
