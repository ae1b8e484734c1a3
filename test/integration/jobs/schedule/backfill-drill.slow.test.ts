import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { blockTotals } from '../../../../clickhouse/chain/blocks.js'
import { SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'
import { countSlots } from '../../../../clickhouse/jobs/progress.js'
import { slotHistory } from '../../../../clickhouse/jobs/slots.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { findDueSlots } from '../../../../jobs/schedule/run-slots.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { flowAnomaliesOracle, type OracleAnomaly } from '../../../../oracle/flow-anomalies.js'
import type { OracleSample } from '../../../../oracle/peg-events.js'
import { startBackfill } from '../../../support/backfill.js'
import { depth } from '../../../support/depth.js'
import { expectedBreaks, inOrder, storedEvents } from '../../../support/events.js'
import { expectAnomalies, storedFlows } from '../../../support/flow-anomalies.js'
import { type GrowingMarket, growingMarket } from '../../../support/growing-market.js'
import { ingestAll, ingestedTo, startIngest } from '../../../support/ingest.js'
import { startJobs, until } from '../../../support/jobs/process.js'
import { storedDepths } from '../../../support/peg-events.js'
import { test, withDatabase } from '../../../support/services.js'

/** How often the backfills are killed, and the jobs beside them once more. */
const KILLS = depth('KILL_ROUNDS', 1, 8)
const SEED = Number(process.env.FAULT_SEED ?? 1)

/** Seven and a half hours of a market that has anomalies of flows, mild and severe breaks. */
const MARKET = { seed: 4, blocks: 150, blockSeconds: 180, stables: 9 }
/** The tip begins here, while a stable is off its peg. */
const START = 19
/** Blocks before any ingest starts, so many that the tip alone has an anomaly that is none of the whole chain. */
const OLD_BLOCKS = START + 100
/** The rest of the blocks are mined this far apart while backfills run. */
const MINED_EVERY_MS = 500

/** A backfill counts as ended this soon, so that some do while their process is dead. */
const QUIET_SECONDS = 3
const LONGEST_PAUSE_MS = 4000
const DETECTORS = SLOT_JOBS.filter(({ name }) => name === 'peg-events' || name === 'flow-anomalies')

let market: GrowingMarket
let mining: Promise<void> | null = null
type Truth = {
  breaks: ReturnType<typeof expectedBreaks>
  anomalies: OracleAnomaly[]
  /** Anomalies of the tip's first blocks alone that are none of the whole chain. */
  mistakes: OracleAnomaly[]
}
let truth: Promise<Truth> | null = null

beforeAll(async () => {
  market = await growingMarket(MARKET)
  await market.mineTo(OLD_BLOCKS)
}, 400_000)
afterAll(async () => {
  await mining
  await market?.remove()
})

/** Mines the rest of the market, at the same time for all orders. */
const mineOn = (): Promise<void> => {
  mining ??= (async () => {
    for (let block = OLD_BLOCKS + 1; block <= MARKET.blocks; block++) {
      await sleep(MINED_EVERY_MS)
      await market.mineTo(block)
    }
  })()
  return mining
}

const windowOf = ({ window_start, from_token, to_token }: OracleAnomaly) => `${window_start} ${from_token} ${to_token}`

/** What the definitions find in all blocks of the chain, which another database has read in one pass. */
const expected = () => {
  truth ??= withDatabase(async (env, clickhouse) => {
    await ingestAll(env, clickhouse, market.rpcUrl, MARKET.blocks)
    const query = `
      SELECT stable, toUnixTimestamp(block_time) AS block_time, toUInt32(block_number) AS block_number, sell_micros
      FROM peg_samples ORDER BY stable, peg_samples.block_number`
    const samples = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<
      OracleSample & { stable: string }
    >()
    const times = samples.map(({ block_time }) => block_time)
    const [first, last] = [Math.min(...times), Math.max(...times)]
    const horizonOf = (seconds: number) => Math.floor((last - 1) / seconds) * seconds
    const timeOf = (block: number) => samples.find(({ block_number }) => block_number === block)?.block_time ?? 0
    const flows = await storedFlows(clickhouse)
    const anomalies = flowAnomaliesOracle(flows, Math.floor(first / 900) * 900, horizonOf(900))
    const ofTip = flows.filter(({ block_time }) => block_time >= timeOf(START))
    const mistaken = flowAnomaliesOracle(ofTip, timeOf(START), timeOf(OLD_BLOCKS))
    const windows = new Set(anomalies.map(windowOf))
    const mistakes = mistaken.filter((anomaly) => !windows.has(windowOf(anomaly)))
    return { breaks: expectedBreaks(samples, horizonOf(120), await storedDepths(clickhouse)), anomalies, mistakes }
  })
  return truth
}

type Order = 'oldest first' | 'newest first' | 'in random pieces'

/** In `npm run drill` every order, otherwise the one in which most is wrong until the end. */
const ORDERS = (['oldest first', 'newest first', 'in random pieces'] as const).slice(0, depth('BACKFILL_ORDERS', 1, 3))

/** The flags of the backfills that together read everything before the tip. */
function backfillsOf(order: Order, random: Random): string[][] {
  if (order === 'oldest first') return [[]]
  if (order === 'newest first') return [['--newest-first']]
  const cuts = [1, ...Array.from({ length: 3 }, (_, i) => random.int(i * 5 + 2, i * 5 + 6)), START]
  const pieces = cuts.slice(0, -1).map((from, i) => {
    const flags = ['--from', `${from}`, '--to', `${(cuts[i + 1] as number) - 1}`]
    return random.chance(0.5) ? [...flags, '--newest-first'] : flags
  })
  return pieces.sort(() => random.next() - 0.5)
}

type Drill = { env: ClickHouseEnv; clickhouse: ClickHouseClient; random: Random }

/** Runs backfills one after the other to their ends, killed at random; resolves to how often in the middle of a batch. */
async function backfillAll({ env, clickhouse, random }: Drill, backfills: string[][]): Promise<number> {
  const newest = async () => newestBatch(clickhouse, { track: 'backfill' })
  let [kills, halfDone] = [0, 0]
  for (const [i, flags] of backfills.entries()) {
    for (let isDone = false; !isDone; ) {
      const before = (await newest())?.sequence_number ?? 0
      const backfill = startBackfill(env, market.rpcUrl, flags, { BATCH_BLOCKS: '2' })
      const killAfter = before + random.int(1, 4)
      const isLast = i === backfills.length - 1
      if (kills < KILLS && (isLast || random.chance(0.5))) {
        while (backfill.child.exitCode === null && ((await newest())?.sequence_number ?? 0) < killAfter) await sleep(10)
        await sleep(random.int(0, 150))
        await backfill.kill('SIGKILL')
        kills++
        if ((await newest())?.committed === false) halfDone++
        await sleep(random.int(0, LONGEST_PAUSE_MS))
      } else {
        const { code } = await backfill.exited
        expect([code, backfill.output()]).toEqual([0, expect.stringContaining('backfill is done')])
        isDone = true
      }
    }
    await sleep(random.int(0, LONGEST_PAUSE_MS))
  }
  expect(kills).toBe(KILLS)
  return halfDone
}

const slotsDone = async (clickhouse: ClickHouseClient): Promise<number> => {
  const query = "SELECT toUInt32(count()) AS runs FROM job_runs WHERE state = 'done'"
  return (await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ runs: number }>())[0]?.runs ?? 0
}

const isDue = async (clickhouse: ClickHouseClient): Promise<boolean> => {
  for (const job of DETECTORS) if ((await findDueSlots(clickhouse, job, SLOT_JOBS, 1)).length > 0) return true
  return false
}

/**
 * Runs the jobs until they are done after `ingested`, killed at random; resolves to how often while slots were due.
 */
async function runJobs({ env, clickhouse, random }: Drill, ingested: Promise<unknown>): Promise<number> {
  let isIngested = false
  const rest = ingested.then(() => {
    isIngested = true
  })
  const start = () =>
    startJobs(
      env,
      { JOBS_LEASE_SECONDS: '3', BACKFILL_QUIET_SECONDS: `${QUIET_SECONDS}`, RUN_EVERY_SECONDS: '5' },
      DETECTORS,
    )
  const isDone = async (): Promise<boolean> => {
    const history = isIngested && (await slotHistory(clickhouse))
    if (!history) return false
    if (history.read_since !== 0) return false
    const counts = await countSlots(clickhouse, DETECTORS, { history, now: new Date() })
    for (const { waiting } of counts.values()) if (waiting) return false
    return !(await isDue(clickhouse))
  }
  let jobs = start()
  let atWork = 0
  for (let kill = 0; kill <= KILLS; kill++) {
    // The last kill strikes when the slots of all of history are done again.
    const before = await slotsDone(clickhouse)
    const enough = before + random.int(3, 30)
    const isLast = kill === KILLS
    if (isLast) await rest
    await until('it does slots', async () => (await slotsDone(clickhouse)) >= enough || isDone(), [jobs])
    await sleep(random.int(0, 400))
    await jobs.kill('SIGKILL')
    if (await isDue(clickhouse)) atWork++
    jobs = start()
  }
  await rest
  await until('every slot is done', isDone, [jobs], 900)
  await jobs.kill('SIGTERM')
  return atWork
}

const byWindow = (a: OracleAnomaly, b: OracleAnomaly): number => windowOf(a).localeCompare(windowOf(b))

describe.concurrent('while the tip runs and backfill and jobs are killed with kill -9', { timeout: 1_800_000 }, () => {
  test.for<Order>(ORDERS)(
    'a backfill %s announces exactly what the definitions find in the whole chain, and takes nothing back',
    async (order, { clickhouseEnv: env, clickhouse }) => {
      const drill = { env, clickhouse, random: randomFor(SEED, `backfill ${order}`) }
      const ingest = startIngest(env, market.rpcUrl, { START_BLOCK: `${START}`, BATCH_BLOCKS: '16' })
      await ingestedTo(clickhouse, OLD_BLOCKS, ingest)
      const mined = mineOn()
      const backfilled = backfillAll(drill, backfillsOf(order, randomFor(SEED, `pieces ${order}`)))
      const ingested = Promise.all([backfilled, mined.then(() => ingestedTo(clickhouse, MARKET.blocks, ingest))])
      const [[halfDone], atWork] = await Promise.all([
        ingested,
        runJobs({ ...drill, random: randomFor(SEED, `jobs ${order}`) }, ingested),
      ])
      await ingest.kill('SIGTERM')
      expect(await blockTotals(clickhouse)).toMatchObject({ first_block: 1, last_block: MARKET.blocks, missing: 0 })

      const message = `FAULT_SEED=${SEED}`
      const { breaks, anomalies, mistakes } = await expected()
      const events = await storedEvents(clickhouse)
      const anomalous = events.filter(({ type }) => type === 'flow_anomaly.detected')
      const others = events.filter(({ type }) => type !== 'flow_anomaly.detected')
      expect(inOrder(others), message).toEqual(inOrder(breaks))
      const found = anomalous.map(({ data }) => data as OracleAnomaly)
      expectAnomalies(found.sort(byWindow), [...anomalies].sort(byWindow), message)

      // The market has what could go wrong, and the kills struck at work.
      expect(breaks.length).toBeGreaterThan(10)
      expect(anomalies.length).toBeGreaterThan(3)
      expect(mistakes.length).toBeGreaterThan(0)
      expect(breaks.some(({ type, data }) => type === 'peg_break.started' && data.started_block === START - 1)).toBe(
        true,
      )
      expect(atWork).toBeGreaterThan(0)
      console.log(
        `${order}: ${2 * KILLS + 1} kills, ${halfDone} in the middle of a batch and ${atWork} while slots were due; ` +
          `${await slotsDone(clickhouse)} runs of slots, ${breaks.length} events of peg breaks and ${anomalies.length} anomalies, ` +
          `each announced once and none taken back (${message})`,
      )
    },
  )
})
