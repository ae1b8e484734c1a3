import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'
import { completedSlots, jobRuns } from '../../../../clickhouse/jobs/runs.js'
import { findDueSlots } from '../../../../jobs/schedule/run-slots.js'
import { randomFor } from '../../../../local/chain/random.js'
import { flowAnomaliesOracle, type OracleAnomaly } from '../../../../oracle/flow-anomalies.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { depth } from '../../../support/depth.js'
import { expectedBreaks, inOrder, storedEvents } from '../../../support/events.js'
import { expectAnomalies, storedFlows } from '../../../support/flow-anomalies.js'
import { wildFlows } from '../../../support/flow-market.js'
import { jobsDone, startJobs, until } from '../../../support/jobs/process.js'
import { expectedTracks } from '../../../support/peg-tracks.js'
import { addFacts } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { addMarket, blockTimes, wildDepths, wildSamples } from '../../../support/wild-market.js'

const KILLS = depth('KILL_ROUNDS', 3, 50)
const SEED = Number(process.env.FAULT_SEED ?? 1)
const DAY = 86_400
/** A few slots of each job: few enough to catch up on in the end. */
const ROUND_SECONDS = KILLS > 10 ? 600 : 1800
/** The statements of a pass at which it is killed: in the order of their work, and the last one records it. */
const STATEMENTS = [
  'insert_peg_breaks',
  'insert_peg_track_states',
  'insert_flow_anomalies',
  'announced_within',
  'insert_events',
  'insert_job_runs',
]
const STABLES = 2
/**
 * Short, because every process must wait for the previous one's lease, and long enough for a busy machine to renew it.
 */
const JOBS_LEASE_SECONDS = '4'

const DETECTORS = SLOT_JOBS.filter(({ name }) => ['peg-events', 'peg-tracks', 'flow-anomalies'].includes(name))
const isDue = async (clickhouse: ClickHouseClient): Promise<boolean> => {
  for (const job of DETECTORS) if ((await findDueSlots(clickhouse, job, SLOT_JOBS, 1)).length > 0) return true
  return false
}

/** Sorts events in an order that does not depend on their figures. */
const byWindow = (a: OracleAnomaly, b: OracleAnomaly): number =>
  `${a.window_start} ${a.from_token} ${a.to_token}`.localeCompare(`${b.window_start} ${b.from_token} ${b.to_token}`)

test(
  'kill -9 of the detectors within a pass, at any of its statements, loses no event and announces none twice',
  async ({ clickhouseEnv, clickhouse }) => {
    const random = randomFor(SEED, 'kills of detectors')
    const seconds = KILLS * ROUND_SECONDS
    const start = Math.floor(Date.now() / 900_000) * 900 - seconds - 3600 + 60
    const times = blockTimes(SEED, start, seconds)
    const samples = wildSamples(SEED, STABLES, times)
    const depths = wildDepths(SEED, samples)
    // Some flows are before the first block, so that there is a baseline.
    const flows = wildFlows(1, start - DAY, start + seconds)
    await addFacts(clickhouse, { flows: flows.filter(({ block_time }) => block_time < start) })
    const addRound = async (from: number, to: number): Promise<void> => {
      const isOfRound = ({ block_time }: { block_time: number }) => block_time >= from && block_time < to
      const own = times.filter((block_time) => isOfRound({ block_time }))
      await addFacts(clickhouse, { flows: flows.filter(isOfRound) })
      const first = times.indexOf(own[0] ?? 0) + 1
      await addMarket(clickhouse, samples.filter(isOfRound), own, first, depths.filter(isOfRound))
    }
    const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
    const relayed = { ...clickhouseEnv, CLICKHOUSE_URL: relay.url }
    const killedAt = new Map<string, number>()
    for (let kill = 0; kill < KILLS; kill++) {
      await addRound(start + kill * ROUND_SECONDS, start + (kill + 1) * ROUND_SECONDS)
      const statement = random.pick(STATEMENTS)
      const release = relay.hold(statement)
      const before = relay.seen.length
      const isHeld = () => relay.seen.slice(before).some(({ query }) => query.get('log_comment') === statement)
      const jobs = startJobs(relayed, { JOBS_LEASE_SECONDS }, DETECTORS)
      // What is not found is not written: then there is no such statement.
      await until(`${statement}, or nothing to do`, async () => isHeld() || !(await isDue(clickhouse)), [jobs])
      if (isHeld()) killedAt.set(statement, (killedAt.get(statement) ?? 0) + 1)
      await jobs.kill('SIGKILL')
      release()
    }
    await relay.close()
    const withinPass = [...killedAt.values()].reduce((sum, kills) => sum + kills, 0)
    expect(withinPass).toBeGreaterThan(KILLS / 2)
    const jobs = startJobs(clickhouseEnv, { JOBS_LEASE_SECONDS }, DETECTORS)
    await jobsDone(clickhouse, jobs, 600 + KILLS * 20, DETECTORS)
    await jobs.kill('SIGTERM')

    // Each slot of a job is done in one revision, and counts once.
    const runs = await jobRuns(clickhouse, { now: new Date() })
    const slots = (await completedSlots(clickhouse)).map(({ job }) => job)
    for (const { job, done } of runs) expect([job, done]).toEqual([job, slots.filter((one) => one === job).length])

    const last = times.at(-1) ?? 0
    const events = await storedEvents(clickhouse)
    const ofPegs = events.filter(({ type }) => type.startsWith('peg_break.'))
    const told = expectedBreaks(samples, Math.floor((last - 1) / 120) * 120, depths)
    expect(told.length).toBeGreaterThan(KILLS)
    expect(inOrder(ofPegs), `FAULT_SEED=${SEED}`).toEqual(inOrder(told))
    const ofTracks = events.filter(({ type }) => /^(agreed_break|peg_quote)\./.test(type))
    const onTracks = expectedTracks(samples, depths, Math.floor((last - 1) / 120) * 120)
    expect(onTracks.length).toBeGreaterThan(KILLS)
    expect(inOrder(ofTracks), `FAULT_SEED=${SEED}`).toEqual(inOrder(onTracks))
    const anomalies = flowAnomaliesOracle(
      await storedFlows(clickhouse),
      Math.floor(start / 900) * 900,
      Math.floor((last - 1) / 900) * 900,
    )
    expect(anomalies).not.toEqual([])
    const found = events.filter(({ type }) => type === 'flow_anomaly.detected').map(({ data }) => data as OracleAnomaly)
    expectAnomalies(found.sort(byWindow), anomalies.sort(byWindow), `FAULT_SEED=${SEED}`)
    console.log(
      `${KILLS} kills, ${withinPass} within a pass (${[...killedAt].map(([at, kills]) => `${at} ${kills}`).join(', ')}): ${told.length} events of peg breaks, ${onTracks.length} of agreed breaks and lost quotes, and ${anomalies.length} anomalies, each once; ` +
        `${(events.at(-1)?.sequence ?? 0) - events.length} numbers left out`,
    )
  },
  900_000 + KILLS * 60_000,
)
