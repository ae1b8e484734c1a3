import { expect, test } from 'vitest'
import { bytesPerRow, estimate } from '../../../../tools/size/estimate.js'
import type { Measured, MeasuredTable } from '../../../../tools/size/measured.js'

/** A table in one part, after small ones; 1,000 bytes of it do not grow. */
const stored = (table: string, rows: number, rowBytes: number, grown: MeasuredTable['grown']): MeasuredTable => ({
  table,
  rows,
  bytes: rows * rowBytes + 1000,
  parts: 1,
  largest: { rows, bytes: rows * rowBytes + 300 },
  smallest: { rows: 1, bytes: rowBytes + 300 },
  part_overhead: 700,
  grown,
})

/** A hundred blocks of two seconds, ten stables, 400 transactions; twice as much was stored before. */
const measured: Measured = {
  stretch: { from_block: 101, to_block: 200, from_time: 10_000, to_time: 10_198, blocks: 100, transactions: 400 },
  tables: [
    stored('blocks', 300, 70, { rows: 100, instants: 100 }),
    stored('ingest_batches', 600, 20, { rows: 200, instants: 100 }),
    stored('peg_samples', 3000, 1, { rows: 1000, instants: 100 }),
    stored('peg_minutes', 100, 5, { rows: 40, instants: 4 }),
    stored('fees_paid', 1200, 40, { rows: 400, instants: 50 }),
    stored('flows', 600, 60, { rows: 200, instants: 20 }),
    stored('stablecoins', 10, 100, null),
  ],
}
const tableOf = (wanted: Partial<Parameters<typeof estimate>[1]>, name: string) =>
  estimate(measured, { days: 10, replicas: 1, ...wanted }).tables.find(({ table }) => table === name)
const day = 86_400

test('without flags every table grows as in the time that was measured', () => {
  // 100 blocks in 200 s; ten rows a minute, whatever the number of minutes that were cut off.
  const expected = {
    blocks: day / 2,
    peg_samples: 5 * day,
    peg_minutes: 1440 * 10,
    fees_paid: 2 * day,
    flows: day,
    stablecoins: 0,
  }
  for (const [table, rows] of Object.entries(expected)) expect(tableOf({}, table)?.rows_per_day).toBeCloseTo(rows, 6)
})

test('what a part costs however small it is does not grow with its rows', () => {
  expect(tableOf({}, 'fees_paid')?.bytes_per_row).toBe(40)
  expect(tableOf({}, 'fees_paid')?.bytes).toBeCloseTo(1000 + 40 * (1200 + 10 * 2 * day), 3)
  expect(bytesPerRow({ largest: { rows: 10, bytes: 500 }, smallest: { rows: 9, bytes: 490 } })).toBe(50)
})

test('each flag multiplies the tables that grow with it, and no others', () => {
  const times = (wanted: Partial<Parameters<typeof estimate>[1]>) =>
    Object.fromEntries(
      ['blocks', 'peg_samples', 'peg_minutes', 'fees_paid'].map((name) => [
        name,
        (tableOf(wanted, name)?.rows_per_day ?? 0) / (tableOf({}, name)?.rows_per_day ?? 0),
      ]),
    )
  expect(times({ transactionsPerSecond: 200 })).toEqual({ blocks: 1, peg_samples: 1, peg_minutes: 1, fees_paid: 100 })
  expect(times({ stables: 30 })).toEqual({ blocks: 1, peg_samples: 3, peg_minutes: 3, fees_paid: 1 })
  expect(times({ blockSeconds: 0.5 })).toEqual({ blocks: 4, peg_samples: 4, peg_minutes: 1, fees_paid: 1 })
})

test('with RETAIN_FEES_PAID_DAYS at most those days and a month of fees_paid are stored', () => {
  const { disk } = estimate(measured, { days: 365, replicas: 1 })
  const kept = estimate(measured, { days: 365, replicas: 1, retainFeesDays: 30 })
  const fees = kept.tables.find(({ table }) => table === 'fees_paid')
  expect(fees?.bytes).toBeCloseTo(1000 + 40 * 61 * 2 * day, 3)
  expect(disk.one_replica - kept.disk.one_replica).toBeCloseTo(40 * (1200 + (365 - 61) * 2 * day), 3)
})

test('every replica needs all bytes, and room for a merge of the largest month', () => {
  const { disk, tables } = estimate(measured, { days: 365, replicas: 3 })
  const month = 31 * Math.max(...tables.map(({ bytes_per_day }) => bytes_per_day))
  expect(disk.for_merges).toBeCloseTo(month, 3)
  expect(disk.all_replicas).toBeCloseTo(3 * (disk.one_replica + month), 3)
})

test('inserts are the plan and the commit of a batch, and the tables that have rows in it', () => {
  // A block is a batch: blocks and samples always, fees in half of them, flows in a fifth, which views add parts to.
  const { per_second } = estimate(measured, { days: 1, replicas: 3 })
  expect(per_second.inserts).toBeCloseTo((2 + 1 + 1 + 0.5 + 0.2) / 2, 6)
  expect(per_second.parts).toBeCloseTo((2 + 1 + 1 + 0.5 + 0.2 + 2 * 1 + 2 * 0.2) / 2, 6)
  expect(per_second.keeper_writes).toBeCloseTo(per_second.parts * 3, 6)
  expect(estimate(measured, { days: 1, replicas: 1 }).per_second.keeper_writes).toBeNull()
  // Of twice as many transactions, 1 - 0.5² of the batches have fees, and 1 - 0.8² flows.
  const twice = estimate(measured, { days: 1, replicas: 1, transactionsPerSecond: 4 })
  expect(twice.per_second.inserts).toBeCloseTo((2 + 1 + 1 + 0.75 + 0.36) / 2, 6)
})
