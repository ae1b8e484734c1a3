import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { detectPegEvents } from '../../../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../../../jobs/detect/peg-tracks.js'
import type { Slot, Slots } from '../../../../jobs/schedule/run-slots.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { storedEvents } from '../../../support/events.js'
import { addBatch } from '../../../support/ledger.js'
import { PEG_EVENTS_JOB } from '../../../support/peg-events.js'
import { repairedViews } from '../../../support/repair-views.js'
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

/** What the detectors have written, as readers see it, and the log in its order except when it was written. */
async function written(clickhouse: ClickHouseClient): Promise<Record<string, unknown[]>> {
  const read = async (table: string): Promise<unknown[]> => {
    const query = `SELECT * FROM ${table} FINAL ORDER BY ALL`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  }
  const events = await storedEvents(clickhouse)
  return {
    peg_events: await read('peg_events'),
    agreed_breaks: await read('agreed_breaks'),
    peg_track_states: await read('peg_track_states'),
    events: events.map(({ recorded_at: _, sequence: __, data: { recorded_at: ___, ...data }, ...event }) => ({
      ...event,
      data,
    })),
  }
}

/** A client whose n-th insert fails, before or after it is stored. */
function dying(clickhouse: ClickHouseClient, nth: number, isStored: boolean): ClickHouseClient {
  let inserts = 0
  return new Proxy(clickhouse, {
    get(target, property) {
      if (property !== 'insert') return Reflect.get(target, property, target)
      return async (...args: Parameters<ClickHouseClient['insert']>) => {
        const isLast = ++inserts === nth
        if (isLast && !isStored) throw new Error('killed')
        const result = await target.insert(...args)
        if (isLast) throw new Error('killed')
        return result
      }
    },
  })
}

/** The slots in passes of random lengths; some die half-way, and the next one begins where they did and ends elsewhere. */
async function inPasses(clickhouse: ClickHouseClient, slots: readonly Slot[], random: Random): Promise<number> {
  let kills = 0
  for (const detect of DETECTORS)
    for (let done = 0; done < slots.length; ) {
      const pass = slots.slice(done, done + random.int(1, random.pick([2, 10, 80]))) as unknown as Slots
      if (random.chance(0.4)) {
        const client = dying(clickhouse, random.int(1, 3), random.chance(0.5))
        await detect(client, pass).catch((error) => {
          expect(String(error)).toContain('killed')
          kills++
        })
        continue
      }
      expect(await detect(clickhouse, pass)).toHaveLength(pass.length)
      done += pass.length
    }
  return kills
}

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
          kills += await inPasses(together, due, random)
          const expected = await written(alone)
          for (const [table, rows] of Object.entries(await written(together)))
            expect(rows, `${table}, FAULT_SEED=${SEED}, history ${history}, revision ${revision}`).toEqual(
              expected[table],
            )
          retracted = Math.max(
            retracted,
            (await storedEvents(alone)).filter(({ type }) => type === 'event.retracted').length,
          )
          excursions += expected.peg_events?.length ?? 0
        }
      }),
    )
  }
  expect(kills).toBeGreaterThan(HISTORIES)
  expect(retracted).toBeGreaterThan(3)
  expect(excursions).toBeGreaterThan(50)
})
