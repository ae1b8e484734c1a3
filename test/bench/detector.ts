// A slot of the peg-break detector with a day, a month and a year of samples and events behind it.
import { deepStrictEqual } from 'node:assert'
import type { ClickHouseClient } from '@clickhouse/client'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { detectPegEvents } from '../../jobs/detect/peg-events.js'
import { generatedStable } from './generate.js'
import { median, percentile, timed } from './measure.js'
import { rows, startStack } from './stack.js'

const STABLES = 20
const DAYS = [1, 30, 365]
/** How many slots at the end of the history are timed. */
const SLOTS = 40
/** Every stable leaves its peg for twelve minutes every four hours, one after the other; every other one far. */
const OUTSIDE = 12
const CYCLE = 240

/** One sample a minute of each stable up to `end`, and the events in them but for those of the slots to be timed. */
async function generate(clickhouse: ClickHouseClient, days: number, end: number): Promise<void> {
  const minutes = days * 1440
  const start = end - (minutes - 1) * 60
  const stable = `arrayElement([${Array.from({ length: STABLES }, (_, i) => `'${generatedStable(i)}'`)}], stable_index + 1)`
  await clickhouse.command({
    query: `INSERT INTO blocks (block_number, block_time) SELECT number, toDateTime(${start} + 60 * number) FROM numbers(${minutes})`,
  })
  // Counted from the end, so that the timed slots are the same whatever the history.
  const ago = `intDiv(number, ${STABLES}) AS ago, number % ${STABLES} AS stable_index, (ago + ${OUTSIDE} * stable_index) % ${CYCLE} AS phase, if(stable_index % 2, 6000, 1500) AS size`
  // A month at a time, so that no statement takes long.
  const month = 30 * 1440 * STABLES
  for (let first = 0; first < minutes * STABLES; first += month) {
    const numbers = `numbers(${first}, ${Math.min(month, minutes * STABLES - first)})`
    await clickhouse.command({
      query: `
        INSERT INTO peg_samples (stable, block_number, block_time, elapsed_seconds, status, sell_micros, buy_micros)
        SELECT ${stable}, ${minutes} - 1 - ago, toDateTime(${end} - 60 * ago), 60, 'quoted', price, price + 200
        FROM (SELECT ${ago}, 1000000 - if(phase < ${OUTSIDE}, size, cityHash64(number) % 800) AS price FROM ${numbers})`,
    })
    await clickhouse.command({
      query: `
        INSERT INTO peg_breaks (track, stable, severity, started_at, started_block, confirmed_at, ended_at, ended_block, max_deviation_micros, slot_at)
        SELECT 'published', ${stable}, severity, toDateTime(${end} - 60 * ago) AS started, ${minutes} - 1 - ago AS block, started + 300,
               started + ${60 * OUTSIDE}, block + ${OUTSIDE}, size, toDateTime(intDiv(toUnixTimestamp(started) + ${60 * OUTSIDE} + 119, 120) * 120)
        FROM (SELECT ${ago} FROM ${numbers}) ARRAY JOIN ['mild', 'severe'] AS severity
        WHERE phase = ${OUTSIDE - 1} AND size > if(severity = 'mild', 1000, 5000) AND ago > ${(SLOTS * PERIOD_SECONDS['peg-events']) / 60}`,
    })
  }
}

const stack = await startStack()
try {
  const period = PERIOD_SECONDS['peg-events']
  const end = Math.floor(Date.now() / 1000 / period) * period
  const histories = []
  for (const days of DAYS) {
    const { clickhouse } = await stack.database(`days_${days}`)
    await generate(clickhouse, days, end)
    const [size] = await rows<{ samples: string; events: string }>(
      clickhouse,
      'SELECT (SELECT count() FROM peg_samples) AS samples, (SELECT count() FROM peg_breaks) AS events',
    )
    histories.push({ days, clickhouse, size, times: [] as number[] })
  }
  for (let slot = 1 - SLOTS; slot <= 0; slot++) {
    const at = end + slot * period
    // Side by side, so that whatever else the machine does weighs on all of them.
    for (const { clickhouse, times } of histories)
      times.push(
        await timed(() =>
          detectPegEvents(clickhouse, [
            {
              job: 'peg-events',
              at: new Date(at * 1000),
              revision: 0,
              read_since: 0,
              token: `${at}`,
            },
          ]),
        ),
      )
  }
  const lastEvents = (clickhouse: ClickHouseClient) =>
    rows(
      clickhouse,
      `SELECT stable, severity, started_at, confirmed_at, ended_at, max_deviation_micros FROM peg_breaks FINAL
       WHERE started_at > ${end - SLOTS * period} ORDER BY stable, severity, started_at`,
    )
  const [expected, ...others] = await Promise.all(histories.map(({ clickhouse }) => lastEvents(clickhouse)))
  for (const other of others) deepStrictEqual(other, expected)
  for (const { days, size, times } of histories)
    console.log(
      `${days} days behind (${size?.samples} samples, ${size?.events} events): p50 ${median(times).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms a slot`,
    )
  const [first, last] = [histories[0], histories.at(-1)].map((history) => median(history?.times ?? []))
  console.log(
    `a year to a day: ${((last ?? 0) / (first ?? 1)).toFixed(2)} (target: at most 1.3); the same ${expected?.length} excursions found in each`,
  )
} finally {
  await stack.close()
}
