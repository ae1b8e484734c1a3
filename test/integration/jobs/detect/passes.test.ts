import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { windowOf } from '../../../../clickhouse/flows/buckets.js'
import { detectFlowAnomalies } from '../../../../jobs/detect/flow-anomalies.js'
import { detectPegEvents } from '../../../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../../../jobs/detect/peg-tracks.js'
import type { Slot } from '../../../../jobs/schedule/run-slots.js'
import { randomFor } from '../../../../local/chain/random.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { storedEvents } from '../../../support/events.js'
import { FLOW_ANOMALIES_JOB } from '../../../support/flow-anomalies.js'
import { fitfulFlows, wildFlows } from '../../../support/flow-market.js'
import { addBatch } from '../../../support/ledger.js'
import { inPasses, written } from '../../../support/passes.js'
import { PEG_EVENTS_JOB } from '../../../support/peg-events.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addFacts } from '../../../support/rows.js'
import { withDatabase } from '../../../support/services.js'
import { slotsOf } from '../../../support/slots.js'
import { addMarket, blockTimes, wildDepths, wildSamples, withDrySpells } from '../../../support/wild-market.js'

const HOUR = 3600
const STABLES = 3
const HISTORIES = depth('HISTORIES', 3, 12)
const SEED = Number(process.env.FAULT_SEED ?? 1)

const test = base.extend<{ start: number }>({
  // Right between two slots, some hours ago.
  start: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 120_000) - 150) * 120 + 60),
})

const DETECTORS = [detectPegEvents, detectPegTracks]

/** Blocks from some time on, with samples of every stable. */
type Stretch = { start: number; seconds: number; firstBlock: number; seed: number }

async function addStretch(clickhouse: ClickHouseClient, { start, seconds, firstBlock, seed }: Stretch) {
  const times = blockTimes(seed, start, seconds)
  const samples = withDrySpells(seed, wildSamples(seed, STABLES, times, firstBlock))
  await addMarket(clickhouse, samples, times, firstBlock, wildDepths(seed, samples))
  return times
}

/** What the detectors have written. */
const rows = (clickhouse: ClickHouseClient) => written(clickhouse, ['peg_breaks', 'peg_track_states'])

async function oneByOne(clickhouse: ClickHouseClient, slots: readonly Slot[]): Promise<void> {
  for (const detect of DETECTORS) for (const slot of slots) await detect(clickhouse, [slot])
}

test('a pass over many slots writes what the slots one after another write, wherever it is cut or killed', {
  timeout: 600_000,
}, async ({ start }) => {
  let [kills, retracted, excursions] = [0, 0, 0]
  for (let history = 0; history < HISTORIES; history++) {
    const random = randomFor(SEED, 'passes', history)
    const seconds = random.int(HOUR, 2 * HOUR)
    // Sometimes earlier blocks are not read, so that it is not known when the first breaks began.
    const firstBlock = random.chance(0.3) ? 100 : 1
    const first = { start: random.chance(0.2) ? start - 60 : start, seconds, firstBlock, seed: 100 * SEED + history }
    await withDatabase(async (_, alone) =>
      withDatabase(async (_, together) => {
        const both = [alone, together]
        let times: number[] = []
        let done = start
        for (const one of both) {
          times = await addStretch(one, first)
          if (firstBlock > 1)
            await addBatch(one, 'tip', 1, { from_block: firstBlock, to_block: firstBlock + times.length - 1 })
        }
        for (let revision = 0; revision < 3; revision++) {
          let kept = first.start
          if (revision > 0) {
            const blocks = random.int(1, times.filter((time) => time <= done).length - 1)
            kept = times[blocks - 1] ?? 0
            const [fromBlock, seed] = [firstBlock + blocks, 1000 + 100 * SEED + 10 * history + revision]
            const other = {
              start: kept + random.int(0, 5),
              seconds: start + seconds - kept,
              firstBlock: fromBlock,
              seed,
            }
            let added: number[] = []
            for (const one of both) {
              await removeFacts(one, { from_block: fromBlock, from_time: kept })
              await repairedViews(one)
              added = await addStretch(one, other)
            }
            times = [...times.slice(0, blocks), ...added]
          }
          const slots = slotsOf(PEG_EVENTS_JOB, first.start, times.at(-1) ?? 0, revision).filter(
            ({ at }) => at.getTime() / 1000 >= kept,
          )
          // Not all of them, so that the next revision begins with slots that were never done.
          const due = slots.slice(0, random.int(Math.ceil(slots.length / 2), slots.length))
          done = (due.at(-1)?.at.getTime() ?? 0) / 1000
          await oneByOne(alone, due)
          for (const detect of DETECTORS) kills += await inPasses(together, detect, due, random)
          const expected = await rows(alone)
          for (const [table, found] of Object.entries(await rows(together)))
            expect(found, `${table}, FAULT_SEED=${SEED}, history ${history}, revision ${revision}`).toEqual(
              expected[table],
            )
          retracted = Math.max(
            retracted,
            (await storedEvents(alone)).filter(({ type }) => type === 'event.retracted').length,
          )
          excursions += expected.peg_breaks?.length ?? 0
        }
      }),
    )
  }
  expect(kills).toBeGreaterThan(HISTORIES)
  expect(retracted).toBeGreaterThan(3)
  expect(excursions).toBeGreaterThan(50)
})

const FLOW_HISTORIES = depth('HISTORIES', 2, 10)
const DAY = 86_400
const SLOTS = 60

const anomalyRows = (clickhouse: ClickHouseClient) => written(clickhouse, ['flow_anomalies'])

test('a pass over many windows of flows writes what one window after another writes, wherever it is cut or killed', {
  timeout: 600_000,
}, async () => {
  let [kills, retracted, anomalies] = [0, 0, 0]
  for (let history = 0; history < FLOW_HISTORIES; history++) {
    const random = randomFor(SEED, 'flow passes', history)
    const end = windowOf(Math.floor(Date.now() / 1000))
    const start = end - random.int(2, 10) * DAY
    const scored = end - SLOTS * FLOW_ANOMALIES_JOB.periodSeconds
    const read_since = random.pick([0, 0, start])
    await withDatabase(async (_, alone) =>
      withDatabase(async (_, together) => {
        let kept = start
        for (let revision = 0; revision < 3; revision++) {
          const wild = wildFlows(100 * SEED + 10 * history + revision, start, end)
          const flows = [...wild, ...fitfulFlows(random, start, end)]
          if (revision > 0) kept = random.int(scored, end - 3600)
          for (const one of [alone, together]) {
            if (revision > 0) {
              await removeFacts(one, { from_block: kept + 1, from_time: kept })
              await repairedViews(one)
            }
            await addFacts(one, { flows: flows.filter(({ block_time }) => block_time > kept) })
          }
          const slots = slotsOf(FLOW_ANOMALIES_JOB, Math.max(scored, kept - 1), end, revision)
          // Not all of them, so that the next revision begins with slots that were never done.
          const due = slots
            .slice(0, random.int(Math.ceil(slots.length / 2), slots.length))
            .map((slot) => ({ ...slot, read_since }))
          for (const slot of due) await detectFlowAnomalies(alone, [slot])
          kills += await inPasses(together, detectFlowAnomalies, due, random)
          const expected = await anomalyRows(alone)
          for (const [table, found] of Object.entries(await anomalyRows(together)))
            expect(found, `${table}, FAULT_SEED=${SEED}, history ${history}, revision ${revision}`).toEqual(
              expected[table],
            )
          anomalies += expected.flow_anomalies?.length ?? 0
        }
        retracted += (await storedEvents(alone)).filter(({ type }) => type === 'event.retracted').length
      }),
    )
  }
  expect(kills).toBeGreaterThan(FLOW_HISTORIES)
  expect(retracted).toBeGreaterThan(FLOW_HISTORIES)
  expect(anomalies).toBeGreaterThan(10 * FLOW_HISTORIES)
})
