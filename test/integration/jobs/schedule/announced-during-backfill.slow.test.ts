import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import type { Flow } from '../../../../clickhouse/flows/flows.js'
import { SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'
import type { PegSample } from '../../../../clickhouse/peg/samples.js'
import { detectFlowAnomalies } from '../../../../jobs/detect/flow-anomalies.js'
import { detectPegEvents } from '../../../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../../../jobs/detect/peg-tracks.js'
import type { PassTask, Task } from '../../../../jobs/schedule/run-slots.js'
import { randomFor } from '../../../../local/chain/random.js'
import { flowAnomaliesOracle, type OracleAnomaly } from '../../../../oracle/flow-anomalies.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { expectedBreaks, inOrder, type StoredEvent, storedEvents } from '../../../support/events.js'
import { expectAnomalies } from '../../../support/flow-anomalies.js'
import { wildFlows } from '../../../support/flow-market.js'
import { addBatch, planBatch } from '../../../support/ledger.js'
import { expectedTracks } from '../../../support/peg-tracks.js'
import { ran } from '../../../support/ran-slots.js'
import { addBlocks, addFacts, stablecoin } from '../../../support/rows.js'
import { blockTimes, wildDepths, wildSamples } from '../../../support/wild-market.js'

const test = base.extend<{ end: number }>({
  // Right between two slots, some hours ago.
  end: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 900_000) - 20) * 900 + 60),
})

/** A history as rows of blocks 1 to the last. */
type History = {
  times: readonly number[]
  flows: readonly Flow[]
  samples: readonly PegSample[]
  depths?: readonly DepthSample[]
}

type Range = { from: number; to: number }

const within = <Row extends { block_number: number }>(rows: readonly Row[], { from, to }: Range): Row[] =>
  rows.filter(({ block_number }) => block_number >= from && block_number <= to)

/** Adds a range of blocks as ingest does: their facts, then the blocks, then the note that they are stored. */
async function addRange(
  clickhouse: ClickHouseClient,
  { times, flows, samples, depths = [] }: History,
  { track, sequence, ...range }: Range & { track: string; sequence: number },
  between: () => Promise<void> = async () => {},
): Promise<void> {
  const batch = { from_block: range.from, to_block: range.to }
  await planBatch(clickhouse, track, sequence, batch)
  await addFacts(clickhouse, {
    flows: within(flows, range),
    samples: within(samples, range),
    depths: within(depths, range),
  })
  await between()
  await addBlocks(clickhouse, times.slice(range.from - 1, range.to), range.from)
  await between()
  await addBatch(clickhouse, track, sequence, batch)
}

/** A client of which an insert fails at random, before or after it is stored: the process that uses it is killed. */
function dying(clickhouse: ClickHouseClient, random: ReturnType<typeof randomFor>): ClickHouseClient {
  let left = random.int(0, 12)
  return new Proxy(clickhouse, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      if (name !== 'insert') return value.bind(target)
      return async (...args: unknown[]): Promise<unknown> => {
        if (left-- > 0) return value.apply(target, args)
        if (random.chance(0.5)) await value.apply(target, args)
        throw new Error('killed')
      }
    },
  })
}

type Order = 'oldest first' | 'newest first' | 'any order'

/**
 * Reads a history: the tip from somewhere in its middle on, and in between the blocks before it in segments in some
 * order. Runs the job whenever something was added, also in the middle of a batch, and kills it at random. Calls `check`
 * after each run. At the end everything is read and every slot is done.
 */
async function readWhileDetecting(
  clickhouse: ClickHouseClient,
  history: History,
  { job, task, order, seed }: { job: string; task: Task | PassTask; order: Order; seed: number },
  check: (events: StoredEvent[]) => void,
): Promise<void> {
  const random = randomFor(seed, `reading ${job} ${order}`)
  const slotJob = SLOT_JOBS.find(({ name }) => name === job)
  if (!slotJob) throw new Error(`there is no job ${job}`)
  const detect = async (quietSeconds = random.pick([0, 100_000, 100_000])): Promise<void> => {
    const isKilled = random.chance(0.4)
    const client = isKilled ? dying(clickhouse, random) : clickhouse
    const run = ran(client, slotJob, { jobs: SLOT_JOBS, task, quietSeconds })
    await run.catch((error) => expect([isKilled, String(error)]).toEqual([true, expect.stringContaining('killed')]))
    check(await storedEvents(clickhouse))
  }
  const last = history.times.length
  const tipStart = Math.floor(last * (0.4 + 0.3 * random.next()))
  const segments: Range[] = []
  for (let from = 1; from < tipStart; ) {
    const to = Math.min(tipStart - 1, from + random.int(Math.ceil(tipStart / 8), Math.ceil(tipStart / 4)))
    segments.push({ from, to })
    from = to + 1
  }
  if (order === 'newest first') segments.reverse()
  if (order === 'any order') segments.sort(() => random.next() - 0.5)
  let tip = { from: tipStart, to: tipStart - 1, sequence: 0 }
  const advance = async (to: number): Promise<void> => {
    tip = { from: tip.to + 1, to: Math.min(last, to), sequence: tip.sequence + 1 }
    if (tip.from <= tip.to) await addRange(clickhouse, history, { track: 'tip', ...tip })
  }
  // Most of the tip is read before the backfill has ended.
  const step = Math.ceil((last - tipStart) / 3)
  await advance(tip.to + step)
  await detect()
  for (const [i, segment] of segments.entries()) {
    await addRange(clickhouse, history, { track: 'backfill', sequence: i + 1, ...segment }, async () => {
      if (random.chance(0.4)) await detect()
    })
    await advance(tip.to + step)
    await detect()
  }
  await advance(last)
  for (let i = 0; i < 3; i++) await detect(0)
  // Not killed any more.
  await ran(clickhouse, slotJob, { jobs: SLOT_JOBS, task, quietSeconds: 0 })
  check(await storedEvents(clickhouse))
}

/** In `npm run drill` every order; otherwise one, so that each of them has a job. */
const ordersWith = (usual: Order): readonly Order[] =>
  depth('BACKFILL_ORDERS', 1, 3) === 1 ? [usual] : ['oldest first', 'newest first', 'any order']

test.for(ordersWith('oldest first'))(
  'while a backfill reads %s and the tip runs, no false anomaly is announced, and none is missing at the end',
  { timeout: 600_000 },
  async (order, { clickhouse, end }) => {
    const start = end - 18 * 3600
    const block = (at: number): number => Math.floor((at - start) / 300) + 1
    const times = Array.from({ length: block(end) }, (_, i) => start + i * 300)
    const flows = wildFlows(35, start, end).map((flow) => ({
      ...flow,
      block_number: block(flow.block_time),
      block_time: times[block(flow.block_time) - 1] ?? 0,
    }))
    const truth = flowAnomaliesOracle(flows, start, Math.floor((times.at(-1) ?? 0) / 900) * 900)
    expect(new Set(truth.map(({ kind }) => kind)).size, 'of every kind').toBe(3)
    const keyOf = ({ from_token, to_token, window_start }: Record<string, unknown>): string =>
      `${from_token} ${to_token} ${window_start}`
    const byKey = new Map(truth.map((anomaly) => [keyOf(anomaly), anomaly]))
    let announced = 0
    await readWhileDetecting(
      clickhouse,
      { times, flows, samples: [] },
      { job: 'flow-anomalies', task: { pass: detectFlowAnomalies }, order, seed: 5 },
      (events) => {
        // Whether it is announced or taken back, each is one of the whole history, with the same figures.
        for (const { type, data } of events.slice(announced)) {
          expect([type, [...byKey.keys()]]).toEqual(['flow_anomaly.detected', expect.arrayContaining([keyOf(data)])])
          const expected = byKey.get(keyOf(data))
          if (expected) expectAnomalies([data as OracleAnomaly], [expected], keyOf(data))
        }
        announced = events.length
      },
    )
    expect(announced, 'announced once each').toBe(truth.length)
  },
)

test.for(ordersWith('any order'))(
  'while a backfill reads %s and the tip runs, no false peg break is announced, and none is missing at the end',
  { timeout: 600_000 },
  async (order, { clickhouse, end }) => {
    const times = blockTimes(24, end - 2400, 2400)
    const samples = wildSamples(24, 4, times)
    const stables = [...new Set(samples.map(({ stable }) => stable))]
    await addFacts(clickhouse, { stablecoins: stables.map((stable, i) => stablecoin(i, { stable })) })
    const depths = wildDepths(24, samples)
    const truth = inOrder(expectedBreaks(samples, Math.floor(((times.at(-1) ?? 0) - 1) / 120) * 120, depths))
    expect(truth.length).toBeGreaterThan(20)
    let announced: StoredEvent[] = []
    await readWhileDetecting(
      clickhouse,
      { times, flows: [], samples, depths },
      { job: 'peg-events', task: { pass: detectPegEvents }, order, seed: 7 },
      (events) => {
        expect(truth).toEqual(expect.arrayContaining(inOrder(events.slice(announced.length))))
        announced = events
      },
    )
    expect(inOrder(announced)).toEqual(truth)
  },
)

test.for(ordersWith('newest first'))(
  'while a backfill reads %s and the tip runs, no false agreed break or lost quote is announced, and none is missing at the end',
  { timeout: 600_000 },
  async (order, { clickhouse, end }) => {
    const times = blockTimes(26, end - 9000, 9000)
    const samples = wildSamples(26, 3, times)
    const depths = wildDepths(26, samples)
    const stables = [...new Set(samples.map(({ stable }) => stable))]
    await addFacts(clickhouse, { stablecoins: stables.map((stable, i) => stablecoin(i, { stable })) })
    const truth = inOrder(expectedTracks(samples, depths, Math.floor(((times.at(-1) ?? 0) - 1) / 120) * 120))
    expect(truth.length).toBeGreaterThan(20)
    let announced: StoredEvent[] = []
    let early = 0
    await readWhileDetecting(
      clickhouse,
      { times, flows: [], samples, depths },
      { job: 'peg-tracks', task: { pass: detectPegTracks }, order, seed: 9 },
      (events) => {
        expect(truth).toEqual(expect.arrayContaining(inOrder(events.slice(announced.length))))
        if (announced.length < truth.length) early = Math.max(early, announced.length)
        announced = events
      },
    )
    expect(inOrder(announced)).toEqual(truth)
    expect(early, 'some before everything is read').toBeGreaterThan(0)
  },
)
