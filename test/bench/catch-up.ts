// How fast the detectors catch up, in passes and with one slot after another: 14 stables; for peg breaks a block a second, for flow
// anomalies a block a minute and a flow in every second window of each of their 182 edges.
import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { type JobName, PERIOD_SECONDS, SLOT_JOBS, type SlotJob } from '../../clickhouse/jobs/periods.js'
import { DEPTH_SIZES } from '../../clickhouse/peg/price.js'
import { FLOW_ANOMALIES_TASK } from '../../jobs/detect/flow-anomalies.js'
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
const SLOTS = ROUNDS * (PASS_SLOTS + SINGLE_SLOTS)

/** Every stable leaves its peg for twelve minutes every four hours, one after the other; every other one far. */
async function generatePegs(clickhouse: ClickHouseClient, start: number): Promise<void> {
  const blocks = (SLOTS + 1) * PERIOD_SECONDS['peg-events']
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
    query: `
      INSERT INTO depth_samples (stable, size_tokens, block_number, block_time, sell_status, sell_raw, buy_status, buy_raw)
      SELECT ${stable}, size, block + 1, toDateTime(${start} + block), 'quoted', size * 994000, 'quoted', size * 1000000
      FROM (SELECT 60 * intDiv(number, ${STABLES}) AS block, number % ${STABLES} AS which FROM numbers(${(blocks / 60) * STABLES}))
      ARRAY JOIN [${DEPTH_SIZES}] AS size`,
  })
  await clickhouse.command({
    query: `INSERT INTO blocks (block_number, block_time) SELECT number + 1, toDateTime(${start} + number) FROM numbers(${blocks})`,
  })
}

/** A flow in every second window of an edge, with a surge and a silence of half a day now and then. */
async function generateFlows(clickhouse: ClickHouseClient, start: number): Promise<void> {
  const period = PERIOD_SECONDS['flow-anomalies']
  const stables = `[${Array.from({ length: STABLES }, (_, i) => `'${generatedStable(i)}'`)}]`
  const windows = SLOTS + 1
  for (let first = 0; first < windows; first += 1000)
    await clickhouse.command({
      query: `
        INSERT INTO flows (kind, from_token, to_token, account, amount_in_raw, amount_out_raw, usd_micros, path, block_number, log_index, block_time, tx_hash)
        SELECT 'swap', arrayElement(${stables}, source + 1), arrayElement(${stables}, target + 1), '', value, value, value, [],
               15 * window + 1, edge, toDateTime(${start} + ${period} * window), toString((window, edge))
        FROM
        (
            SELECT ${first} + intDiv(number, ${STABLES ** 2}) AS window, number % ${STABLES ** 2} AS edge, intDiv(edge, ${STABLES}) AS source, edge % ${STABLES} AS target,
                   (1000000 + cityHash64(window, edge) % 500000) * if(cityHash64(edge, window, 1) % 500 = 0, 20, 1) AS value
            FROM numbers(${Math.min(1000, windows - first) * STABLES ** 2})
            WHERE source != target AND cityHash64(window, edge, 2) % 2 = 0 AND cityHash64(intDiv(window, 48), edge) % 20 > 0
        )`,
    })
  await clickhouse.command({
    query: `INSERT INTO blocks (block_number, block_time) SELECT number + 1, toDateTime(${start} + 60 * number) FROM numbers(${(windows * period) / 60})`,
  })
}

const DETECTORS = [
  { name: 'peg-events', task: { pass: detectPegEvents }, generate: generatePegs },
  { name: 'peg-tracks', task: { pass: detectPegTracks }, generate: generatePegs },
  { name: 'flow-anomalies', task: FLOW_ANOMALIES_TASK, generate: generateFlows },
] as const
const asked = process.argv.slice(2)

const stack = await startStack()
try {
  for (const { name, task, generate } of DETECTORS.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
    const { clickhouse } = await stack.database(`catch_up_${name.replace('-', '_')}`)
    const period = PERIOD_SECONDS[name satisfies JobName]
    await generate(clickhouse, (Math.floor(Date.now() / 1000 / period) - SLOTS - 100) * period + 60)
    const job = SLOT_JOBS.find((one) => one.name === name) as SlotJob
    const run = async (task: Task | PassTask, limit: number): Promise<void> => {
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
    const [passes, alone]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      const one: Task = async (client, slot) => (await task.pass(client, [slot]))[0] ?? 0
      alone.push((1000 * SINGLE_SLOTS) / (await timed(() => run(one, SINGLE_SLOTS))))
      passes.push((1000 * PASS_SLOTS) / (await timed(() => run(task, PASS_SLOTS))))
    }
    const shown = (rates: number[]): string =>
      `${median(rates).toFixed(0)} (${rates.map((rate) => rate.toFixed(0)).join(', ')})`
    console.log(`${name}, slots a second: in passes ${shown(passes)}, one after another ${shown(alone)}`)
  }
} finally {
  await stack.close()
}
