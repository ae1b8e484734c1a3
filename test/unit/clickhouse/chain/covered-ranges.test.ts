import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FAMILIES, isByStable, TIP } from '../../../../clickhouse/chain/batches.js'
import { type CommittedBatches, type RolledBack, rangesOf } from '../../../../clickhouse/chain/covered-ranges.js'

const BLOCKS = 20

const batches: fc.Arbitrary<CommittedBatches[]> = fc.array(
  fc
    .record({
      track: fc.constantFrom(TIP, 'backfill'),
      families: fc.subarray([...FAMILIES], { minLength: 1 }),
      stables: fc.constantFrom<string[]>([], ['0xa', '0xb'], ['0xb', '0xa']),
      last_number: fc.nat(9),
      first_block: fc.nat(BLOCKS),
      length: fc.nat(5),
    })
    .map(({ length, ...batch }) => ({ ...batch, last_block: Math.min(BLOCKS, batch.first_block + length) })),
)
const rollbacks: fc.Arbitrary<RolledBack[]> = fc.array(
  fc.record({ after_sequence: fc.nat(9), kept_block: fc.nat(BLOCKS) }),
  { maxLength: 3 },
)

test('a block of a family and its stables is covered exactly if a batch that was not rolled back has it', () => {
  fc.assert(
    fc.property(batches, rollbacks, (all, undone) => {
      const ranges = rangesOf(all, undone)
      const isLeft = (batch: CommittedBatches, block: number) =>
        batch.first_block <= block &&
        block <= batch.last_block &&
        !undone.some((r) => batch.track === TIP && r.after_sequence >= batch.last_number && r.kept_block < block)
      for (const family of FAMILIES)
        for (const stables of [[], ['0xa', '0xb']])
          for (let block = 0; block <= BLOCKS; block++) {
            const isOfStables = (batch: CommittedBatches) =>
              !isByStable(family) || `${batch.stables.toSorted()}` === `${stables}`
            const expected =
              (isByStable(family) || stables.length === 0) &&
              all.some((batch) => batch.families.includes(family) && isOfStables(batch) && isLeft(batch, block))
            const ofThese = ranges.filter((range) => range.family === family && `${range.stables}` === `${stables}`)
            const covering = ofThese.filter(({ from_block, to_block }) => from_block <= block && block <= to_block)
            expect(covering).toHaveLength(expected ? 1 : 0)
            // What is adjacent is one range.
            expect(ofThese.filter(({ to_block }) => to_block + 1 === block && expected)).toEqual([])
          }
    }),
  )
})
