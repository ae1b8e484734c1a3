import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { newestBatch, newestCommittedBatch, TIP } from '../../../../clickhouse/chain/batches.js'
import { type CoveredRange, coveredRanges, merged } from '../../../../clickhouse/chain/covered-ranges.js'
import { ledgerChanges, readLedger } from '../../../../clickhouse/chain/ledger.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { openLedger } from '../../../../ingest/sinks/batch-ledger.js'
import { fillLedger } from '../../../support/ledger-rows.js'
import { randoms } from '../../../support/randoms.js'
import { rowsReadBy } from '../../../support/read-rows.js'
import { test } from '../../../support/services.js'

test('what ingest and answers read of the ledger does not grow with its length', async ({ clickhouse }) => {
  const batches = 200_000
  await fillLedger(clickhouse, { batches, now: new Date() })
  const read = (work: (counted: ClickHouseClient) => Promise<unknown>) => rowsReadBy(clickhouse, work)
  // A granule of each of three parts is 8,192 rows; all of the ledger is 400,002.
  expect(await read((counted) => newestBatch(counted, { track: TIP }))).toBeLessThan(50_000)
  expect(await read((counted) => newestCommittedBatch(counted, { track: TIP }))).toBeLessThan(50_000)
  expect(await read((counted) => coveredRanges(counted))).toBeLessThan(50_000)
  const known = { recorded_by: new Date(Date.now() - 12 * 3_600_000) }
  expect(await read((counted) => coveredRanges(counted, known))).toBeLessThan(50_000)
  expect(await read((counted) => readLedger(counted, {}))).toBeLessThan(50_000)
  const marks = { tip: batches - 10, backfill: 1, catalogue: 0, others: 0 }
  expect(await read((counted) => ledgerChanges(counted, marks))).toBeLessThan(50_000)

  const ledger = await openLedger(clickhouse, TIP, 1)
  const planned = await read(async (counted) => {
    const own = await openLedger(counted, TIP, 1)
    await own.plan({ from: ledger.next, to: ledger.next, lastHash: '0x' })
    await own.commit()
  })
  expect(planned).toBeLessThan(100_000)
  expect(await newestBatch(clickhouse, { track: TIP })).toMatchObject({ sequence_number: batches + 1, committed: true })
})

type Row = {
  track: string
  sequence_number: number
  from_block: number
  to_block: number
  families: string[]
  stables: string[]
  at: number
}
type Rollback = { after_sequence: number; kept_block: number; at: number }

/** The definition of what is covered, over all rows of the ledger. */
function coveredBy(rows: readonly Row[], rollbacks: readonly Rollback[], until: number): CoveredRange[] {
  const groups = new Map<string, CoveredRange[]>()
  for (const row of rows) {
    if (row.at > until) continue
    const kept = rollbacks
      .filter(({ after_sequence, at }) => row.track === TIP && at <= until && after_sequence >= row.sequence_number)
      .map(({ kept_block }) => kept_block)
    const to_block = Math.min(row.to_block, ...kept)
    if (to_block < row.from_block) continue
    for (const family of row.families as CoveredRange['family'][]) {
      const stables = family === 'pegs' || family === 'state' ? row.stables.toSorted() : []
      const key = `${family} ${stables.join()}`
      groups.set(key, [...(groups.get(key) ?? []), { family, stables, from_block: row.from_block, to_block }])
    }
  }
  return [...groups.values()].flatMap((ranges) =>
    merged(ranges).map((range) => ({
      family: ranges[0]?.family ?? 'logs',
      stables: ranges[0]?.stables ?? [],
      ...range,
    })),
  )
}

const ALL = ['catalogue', 'logs', 'pegs', 'state']

/** Some thousand batches as ingest writes them, with what happens rarely: gaps, repetitions, rollbacks, backfills of a part. */
function randomLedger(seed: number) {
  const random = randoms(seed)
  const rows: Row[] = []
  const rollbacks: Rollback[] = []
  let at = 1_700_000_000
  let block = 500
  for (let number = 1; number <= 5200; number++) {
    at += 1 + random(3)
    const last = block + random(3)
    const row = {
      track: TIP,
      sequence_number: number,
      from_block: block,
      to_block: last,
      families: ALL,
      stables: [],
      at,
    }
    // A batch that was planned and is not committed, whose blocks the next one repeats.
    if (number % 1700 !== 0) rows.push(row)
    if (number % 1700 !== 0) block = last + 1
    if (number === 2600) rows.push({ ...row, at: at + 1 })
    if (number === 3100 || number === 4000) {
      const kept_block = block - 1 - random(40)
      rollbacks.push({ after_sequence: number, kept_block, at: ++at })
      block = kept_block + 1
    }
    // A gap inside a thousand: blocks that no batch has.
    if (number === 4500) block += 7
    // A rollback whose blocks are not written again, inside a thousand that has no gap otherwise.
    if (number === 5100) rollbacks.push({ after_sequence: number, kept_block: block - 30, at: ++at })
  }
  const end = at
  for (let number = 1; number <= 1300; number++) {
    at += 1
    const isWhole = random(2) === 0
    const from_block = random(600)
    rows.push({
      track: 'backfill',
      sequence_number: number,
      from_block,
      to_block: from_block + random(4),
      families: isWhole ? ALL : ['pegs'],
      stables: isWhole ? [] : ['0xb', '0xa'],
      at,
    })
  }
  return { rows, rollbacks, instants: [end - 7800, end - 4000, end - 700, end, end + 400, at] }
}

const time = (seconds: number) => seconds.toFixed(3)

async function store(
  clickhouse: ClickHouseClient,
  { rows, rollbacks }: Pick<ReturnType<typeof randomLedger>, 'rows' | 'rollbacks'>,
) {
  const stored = (state: string) =>
    rows.map(({ at, ...row }) => ({ ...row, state, last_hash: '0x', writer: 'test', recorded_at: time(at) }))
  await insertRows(
    clickhouse,
    'ingest_batches',
    [...stored('planned'), ...stored('committed')],
    `${rows[0]?.sequence_number}`,
  )
  const undone = rollbacks.map(({ at, ...rollback }, i) => ({
    ...rollback,
    sequence_number: i + 1,
    state: 'done',
    kept_hash: '0x',
    kept_time: 1,
    removed_to: 1,
    reason: 'test',
    writer: 'test',
    recorded_at: time(at),
  }))
  await insertRows(clickhouse, 'ingest_rollbacks', undone, 'rollbacks')
}

const order = (ranges: readonly CoveredRange[]) =>
  ranges.map((range) => JSON.stringify(range, ['family', 'stables', 'from_block', 'to_block'])).sort()

test('coverage at any instant is that of every row, where batches follow each other and where they do not', async ({
  clickhouse,
}) => {
  const { rows, rollbacks, instants } = randomLedger(17)
  // The older half is in parts without a summary.
  await clickhouse.command({ query: 'ALTER TABLE ingest_batches DROP PROJECTION thousands' })
  await store(clickhouse, { rows: rows.slice(0, 2500), rollbacks })
  await clickhouse.command({
    query: `
      ALTER TABLE ingest_batches ADD PROJECTION thousands
      (
          SELECT track, state, intDiv(sequence_number, 1000), families, stables,
                 min(sequence_number), max(sequence_number), min(from_block), max(to_block), min(recorded_at), max(recorded_at),
                 sum(cityHash64(to_block + 1) - cityHash64(from_block))
          GROUP BY track, state, intDiv(sequence_number, 1000), families, stables
      )`,
  })
  await store(clickhouse, { rows: rows.slice(2500), rollbacks: [] })
  for (const until of instants)
    expect(order(await coveredRanges(clickhouse, { recorded_by: new Date(until * 1000) }))).toEqual(
      order(coveredBy(rows, rollbacks, until)),
    )
  expect(order(await coveredRanges(clickhouse))).toEqual(order(coveredBy(rows, rollbacks, Number.MAX_VALUE)))
})

test('what ingest inserts has no summary until it is merged', async ({ clickhouse }) => {
  const ledger = await openLedger(clickhouse, TIP, 1)
  await ledger.plan({ from: 1, to: 5, lastHash: '0x' })
  await ledger.commit()
  const summarized = async (): Promise<unknown> => {
    const query = `
      SELECT count() > 0 AS any FROM system.parts
      WHERE active AND database = currentDatabase() AND table = 'ingest_batches' AND has(projections, 'thousands')`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  }
  expect(await summarized()).toEqual([{ any: 0 }])
  await clickhouse.command({ query: 'OPTIMIZE TABLE ingest_batches FINAL' })
  expect(await summarized()).toEqual([{ any: 1 }])
  expect(await coveredRanges(clickhouse)).toContainEqual({ family: 'logs', stables: [], from_block: 1, to_block: 5 })
})
