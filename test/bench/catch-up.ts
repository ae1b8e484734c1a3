// How fast the detectors of peg breaks catch up, in passes and with one slot after another: a block a second, 14 stables.
import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { PERIOD_SECONDS, SLOT_JOBS, type SlotJob } from '../../clickhouse/jobs/periods.js'
import { detectPegEvents } from '../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../jobs/detect/peg-tracks.js'
import { type PassTask, runSlots, type Task } from '../../jobs/schedule/run-slots.js'
import { generatedStable } from './generate.js'
import { median, timed } from './measure.js'
import { startStack } from './stack.js'

const STABLES = 14
/** The slots of a round in passes, and of one with one after another, which takes far longer. */
const [PASS_SLOTS, SINGLE_SLOTS] = [2000, 50]
const ROUNDS = 5
const PERIOD = PERIOD_SECONDS['peg-events']
const SLOTS = ROUNDS * (PASS_SLOTS + SINGLE_SLOTS)

/** Every stable leaves its peg for twelve minutes every four hours, one after the other; every other one far. */
async function generate(clickhouse: ClickHouseClient, start: number): Promise<void> {
  const blocks = (SLOTS + 1) * PERIOD
  const stable = `arrayElement([${Array.from({ length: STABLES }, (_, i) => `'${generatedStable(i)}'`)}], which + 1)`
  for (let first = 0; first < blocks; first += 100_000) {
    const count = Math.min(100_000, blocks - first)
    await clickhouse.command({
      query: `
        INSERT INTO peg_samples (stable, block_number, block_time, elapsed_seconds, status, sell_micros, buy_micros)
        SELECT ${stable}, block + 1, toDateTime(${start} + block), 1, 'quoted', price, price + 200
        FROM
        (
            SELECT ${first} + intDiv(number, ${STABLES}) AS block, number % ${STABLES} AS which,
                   1000000 - if((block + 720 * which) % 14400 < 720, if(which % 2, 6000, 1500), cityHash64(block, which) % 800) AS price
            FROM numbers(${count * STABLES})
        )`,
    })
  }
  await clickhouse.command({
    query: `INSERT INTO blocks (block_number, block_time) SELECT number + 1, toDateTime(${start} + number) FROM numbers(${blocks})`,
  })
}

const stack = await startStack()
try {
  const { clickhouse } = await stack.database('catch_up')
  await generate(clickhouse, (Math.floor(Date.now() / 1000 / PERIOD) - SLOTS - 100) * PERIOD + 60)
  const run = async (job: SlotJob, task: Task | PassTask, limit: number): Promise<void> => {
    const { done } = await runSlots({
      clickhouse,
      job,
      task,
      jobs: SLOT_JOBS,
      instance: randomUUID(),
      quietSeconds: 0,
      checkLease: async () => {},
      log: pino({ level: 'silent' }),
      signal: new AbortController().signal,
      limit,
    })
    if (done !== limit) throw new Error(`${done} of ${limit} slots were done`)
  }
  for (const [name, pass] of [
    ['peg-events', detectPegEvents],
    ['peg-tracks', detectPegTracks],
  ] as const) {
    const job = SLOT_JOBS.find((one) => one.name === name) as SlotJob
    const [passes, alone]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(
        (1000 * SINGLE_SLOTS) /
          (await timed(() => run(job, async (client, slot) => (await pass(client, [slot]))[0] ?? 0, SINGLE_SLOTS))),
      )
      passes.push((1000 * PASS_SLOTS) / (await timed(() => run(job, { pass }, PASS_SLOTS))))
    }
    const shown = (rates: number[]): string =>
      `${median(rates).toFixed(0)} (${rates.map((rate) => rate.toFixed(0)).join(', ')})`
    console.log(`${name}, slots a second: in passes ${shown(passes)}, one after another ${shown(alone)}`)
  }
} finally {
  await stack.close()
}
