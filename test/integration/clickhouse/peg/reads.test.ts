import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { FAMILIES } from '../../../../clickhouse/chain/batches.js'
import { type Ledger, readLedger } from '../../../../clickhouse/chain/ledger.js'
import { insertDoneRollback, insertPlannedRollback } from '../../../../clickhouse/chain/rollbacks.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { currentPeg, pegAt } from '../../../../clickhouse/peg/current.js'
import { createEdgeSamples } from '../../../../clickhouse/peg/edge-samples.js'
import { createMinuteSums } from '../../../../clickhouse/peg/minute-sums.js'
import type { PegSample } from '../../../../clickhouse/peg/samples.js'
import { PEG_WINDOWS, windowFigures } from '../../../../clickhouse/peg/windows.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { expectedWindows } from '../../../../oracle/peg-windows.js'
import { Memories } from '../../../../process/memory.js'
import { addBatch, planBatch } from '../../../support/ledger.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addBareBlocks, addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const START = 1_760_000_400
const STABLE = stableAddress(1)
const HOUR = 3600
const BACKFILLED = 300
/** Less than the hours of a window of seven days, so that hours are let go of, too. */
const KEPT_BYTES = 450_000
/** Less than the minutes that the answers need. */
const KEPT_SAMPLES_BYTES = 300_000

/** Ticks after `at`: an hour has a few samples or many, or none. */
function ticksAfter(at: number, count: number, random: Random) {
  const ticks = []
  for (let time = at; ticks.length < count; ) {
    const pause = random.chance(0.4) ? 12 : 600
    time += random.chance(0.02) ? random.int(HOUR, 5 * HOUR) : random.int(1, pause)
    const price = random.chance(0.1) ? ('no_liquidity' as const) : 1_000_000 + random.int(-8000, 8000)
    ticks.push({ at: time, price })
  }
  return ticks
}

async function ledgerOf(clickhouse: ClickHouseClient): Promise<Ledger> {
  const { ledger } = await readLedger(clickhouse, {})
  return { ...ledger, unsampled: () => [] }
}

test('hours and samples that are kept are as the facts are, whatever is written, removed and written again', async ({
  clickhouse,
}) => {
  const random = randomFor(19, 'kept hours')
  const memories = new Memories()
  const minuteSums = createMinuteSums(memories, KEPT_BYTES)
  const edgeSamples = createEdgeSamples(memories, KEPT_SAMPLES_BYTES)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1, { block_time: START })] })
  let samples: PegSample[] = []
  let sequence = 0
  let rollbacks = 0

  const headTime = (): number => samples.at(-1)?.block_time ?? START
  const read = (ledger: Ledger, asOf: number) =>
    pegAt(
      clickhouse,
      { stable: STABLE, as_of: new Date(asOf * 1000) },
      { minuteSums: minuteSums(ledger), samplesOf: edgeSamples(ledger) },
    )
  const earlier: number[] = []
  /**
   * Instants of the whole history, more of them near its end, where it changes; and some that were read before, or lie in
   * the same minute.
   */
  const instants = (): number[] => {
    const [first, last] = [samples[0]?.block_time ?? START, headTime()]
    const again = earlier.slice(-16).flatMap((at) => (random.chance(0.4) ? [at, at + random.int(1, 30)] : []))
    const fresh = [
      last,
      random.int(last - HOUR, last),
      random.int(last - 20 * HOUR, last),
      random.int(first, last + HOUR),
    ]
    earlier.push(...fresh)
    return [...fresh, ...again]
  }
  const compare = async (when: string): Promise<void> => {
    const ledger = await ledgerOf(clickhouse)
    for (const asOf of instants()) {
      const { windows, newest } = await read(ledger, asOf)
      const last = samples.findLast(({ block_time }) => block_time <= asOf)
      expect(newest?.block_number, `${when}, as of ${asOf}`).toBe(last?.block_number)
      const figures = PEG_WINDOWS.map(({ window }) => ({ window, ...windowFigures(windows[window]) }))
      expect(figures, `${when}, as of ${asOf}`).toEqual(expectedWindows(samples, asOf))
    }
    for (const { size, limit, description } of memories.all()) {
      expect(size, description.name).toBeLessThanOrEqual(limit)
      expect(size, description.name).toBeGreaterThan(0)
    }
  }

  const write = async (rows: readonly PegSample[]): Promise<void> => {
    const [first] = rows
    if (!first) return
    await addFacts(clickhouse, { samples: [...rows] })
    await addBareBlocks(
      clickhouse,
      rows.map(({ block_time }) => block_time),
      first.block_number,
    )
  }
  const append = async (count: number): Promise<void> => {
    const first = samples.at(-1)?.block_number ?? BACKFILLED
    const all = pegSamples(
      STABLE,
      [{ at: headTime(), price: 1_000_000 }, ...ticksAfter(headTime(), count, random)],
      first,
    )
    const rows = all.slice(1)
    const range = { from_block: first + 1, to_block: rows.at(-1)?.block_number ?? 0 }
    await planBatch(clickhouse, 'tip', ++sequence, range)
    const half = random.int(0, rows.length - 1)
    await write(rows.slice(0, half))
    // Half of a batch is written.
    const ledger = await ledgerOf(clickhouse)
    for (const asOf of [...instants(), rows[half]?.block_time ?? 0]) await read(ledger, asOf)
    await write(rows.slice(half))
    await addBatch(clickhouse, 'tip', sequence, range)
    samples = [...samples, ...rows]
  }
  const rollBack = async (): Promise<void> => {
    const removed = random.int(1, Math.min(60, samples.length - 1))
    const keptSample = samples.at(-1 - removed) as PegSample
    const rollback = {
      sequence_number: ++rollbacks,
      kept_block: keptSample.block_number,
      kept_hash: '',
      kept_time: keptSample.block_time,
      removed_to: samples.at(-1)?.block_number ?? 0,
      after_sequence: sequence,
      reason: 'test',
      writer: 'test',
    }
    const before = await ledgerOf(clickhouse)
    const asked = instants()
    await insertPlannedRollback(clickhouse, rollback)
    await removeFacts(clickhouse, { from_block: keptSample.block_number + 1, from_time: keptSample.block_time })
    await repairedViews(clickhouse)
    samples = samples.slice(0, -removed)
    // By a process that does not know of it yet, and by one that does.
    for (const ledger of [before, await ledgerOf(clickhouse)]) for (const asOf of asked) await read(ledger, asOf)
    await insertDoneRollback(clickhouse, rollback)
  }
  const backfill = async (): Promise<void> => {
    const all = pegSamples(STABLE, ticksAfter(START - 200 * HOUR, BACKFILLED, random), 1)
    const rows = all.filter(({ block_time }) => block_time < (samples[0]?.block_time ?? START))
    await write(rows)
    const range = { from_block: 1, to_block: rows.at(-1)?.block_number ?? 0 }
    await addBatch(clickhouse, 'backfill', 1, { ...range, families: FAMILIES })
    samples = [...rows, ...samples]
  }

  for (let step = 0; step < 24; step++) {
    if (step === 9) await backfill()
    else if (step > 2 && random.chance(0.35)) await rollBack()
    else await append(random.int(20, 200))
    await compare(`step ${step}`)
  }
})

const FIRST_SECOND = 1_760_000_000

test('a stable whose samples a reorganization removes while its peg is read has none', async ({ clickhouse }) => {
  await addBlocks(clickhouse, [FIRST_SECOND, FIRST_SECOND + 60])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_time: FIRST_SECOND })],
    samples: pegSamples(STABLE, [{ at: FIRST_SECOND + 60, price: 'no_liquidity' }], 2),
  })
  const about = { stable: STABLE, as_of: new Date((FIRST_SECOND + 100) * 1000) }
  const asked: string[] = []
  let removed: Promise<unknown> | undefined
  const removal = (): Promise<unknown> => {
    removed ??= removeFacts(clickhouse, { from_block: 1, from_time: FIRST_SECOND - 1 })
    return removed
  }
  const changing = Object.assign(Object.create(clickhouse) as ClickHouseClient, {
    query: async (query: Parameters<ClickHouseClient['query']>[0]) => {
      const name = `${query.clickhouse_settings?.log_comment}`
      asked.push(name)
      if (name.startsWith('lost_quote')) await removal()
      return clickhouse.query(query)
    },
  })
  expect((await currentPeg(clickhouse, about)).newest).toMatchObject({ status: 'no_liquidity' })
  const none = { newest: null, priced: null, lost: null, unsampled: null }
  expect(await currentPeg(changing, about)).toEqual(none)
  expect(asked).toContain('lost_quote_hours')
})
