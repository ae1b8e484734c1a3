import { expect } from 'vitest'
import type { SlotJob } from '../../../../clickhouse/jobs/periods.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { checkHealth } from '../../../../jobs/health/check-health.js'
import { storedEvents } from '../../../support/events.js'
import { addBareBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { runSlots, slotAt } from '../../../support/slots.js'

const JOBS: SlotJob[] = [{ name: 'peg-events', period_seconds: 120 }]
const THRESHOLDS = { maxLagSeconds: 60, maxSamplingLagSeconds: 60, maxLatePeriods: 3, maxMissingBlocks: 0 }
const START = 1_760_000_400

const DONE = { job: 'peg-events', periodSeconds: 120, task: async () => 0 }

test('each component is announced when its state changes, and only then', async ({ clickhouse }) => {
  const stable = stableAddress(1)
  const check = async (seconds: number) => {
    const health = await checkHealth(clickhouse, JOBS, THRESHOLDS, new Date((START + seconds) * 1000))
    return health?.changed.map(({ component, status }) => `${component} ${status}`)
  }
  const told: unknown[] = []
  const data = async () => {
    const events = await storedEvents(clickhouse)
    return events.slice(told.length).map((event) => {
      expect(event).toMatchObject({ type: 'system.health_drift', stables: [] })
      told.push(event)
      return event.data
    })
  }
  const seen = (seconds: number) => new Date((START + seconds) * 1000).toISOString().replace('.000', '')

  expect(await check(0)).toBeUndefined()
  await addFacts(clickhouse, { stablecoins: [stablecoin(1, { stable })] })
  await addFacts(clickhouse, { samples: pegSamples(stable, [{ at: START, price: 1_000_000 }], 1) })
  await addBareBlocks(clickhouse, [START], 1)
  expect(await check(60)).toEqual([])
  expect(await data()).toEqual([])

  // Ingest has stopped; this is announced once, however often it is checked.
  expect(await check(61)).toEqual(['ingest behind'])
  expect(await check(120)).toEqual([])
  const behind = { component: 'ingest', status: 'behind', lag_blocks: null, lag_seconds: 61, detected_at: seen(61) }
  expect(await data()).toEqual([behind])

  // Ingest continues without samples; a job has not begun.
  await addBareBlocks(
    clickhouse,
    [100, 200, 300, 400].map((at) => START + at),
    2,
  )
  expect((await check(400))?.sort()).toEqual(['ingest ok', 'job:peg-events overdue', 'sampling stalled'])
  expect(await data()).toEqual([
    { component: 'ingest', status: 'ok', lag_blocks: null, lag_seconds: 0, detected_at: seen(400) },
    { component: 'sampling', status: 'stalled', lag_blocks: 4, lag_seconds: 400, detected_at: seen(400) },
    { component: 'job:peg-events', status: 'overdue', lag_blocks: 5, lag_seconds: 400, detected_at: seen(400) },
  ])

  // A failed sample does not count; the job catches up; a block is missing.
  await addFacts(clickhouse, { samples: pegSamples(stable, [{ at: START + 500, price: 'failed' }], 7) })
  await addBareBlocks(clickhouse, [START + 500], 7)
  await runSlots(clickhouse, DONE, [slotAt('peg-events', START + 240)])
  expect((await check(500))?.sort()).toEqual(['dataset:blocks gaps', 'job:peg-events ok'])
  await addFacts(clickhouse, { samples: pegSamples(stable, [{ at: START + 510, price: 'no_liquidity' }], 8) })
  await addBareBlocks(clickhouse, [START + 450], 6)
  await addBareBlocks(clickhouse, [START + 510], 8)
  expect((await check(510))?.sort()).toEqual(['dataset:blocks ok', 'sampling ok'])
  expect(await data()).toMatchObject([
    { component: 'job:peg-events', status: 'ok', lag_blocks: 3, lag_seconds: 260 },
    { component: 'dataset:blocks', status: 'gaps', lag_blocks: 1, lag_seconds: null },
    { component: 'sampling', status: 'ok', lag_blocks: 0, lag_seconds: 0 },
    { component: 'dataset:blocks', status: 'ok', lag_blocks: 0 },
  ])

  // A family that could not be read, and a part of it that was read later.
  const gap = { family: 'pegs', from_block: 2, to_block: 6, reason: 'no state' }
  await insertRows(clickhouse, 'ingest_gaps', [gap], 'gap')
  const batch = (sequence_number: number, from_block: number, to_block: number, stables: string[]) =>
    insertRows(
      clickhouse,
      'ingest_batches',
      [{ track: 'backfill', sequence_number, state: 'committed', from_block, to_block, families: ['pegs'], stables }],
      `${sequence_number}`,
    )
  await batch(1, 1, 3, [])
  await batch(2, 4, 6, [stable])
  expect(await check(511)).toEqual(['dataset:pegs gaps'])
  expect(await data()).toMatchObject([{ component: 'dataset:pegs', status: 'gaps', lag_blocks: 3 }])
  await batch(3, 4, 6, [])
  expect(await check(512)).toEqual(['dataset:pegs ok'])

  // The same state, when it recurs, is a new event.
  expect(await check(600)).toEqual(['ingest behind'])
  const ingest = (await storedEvents(clickhouse)).filter((event) => event.data.component === 'ingest')
  expect(ingest.map((event) => event.data.status)).toEqual(['behind', 'ok', 'behind'])
})

test('two monitors that check at the same moment announce a change once', async ({ clickhouse }) => {
  await addBareBlocks(clickhouse, [START], 1)
  const now = new Date((START + 1000) * 1000)
  await Promise.all([1, 2, 3, 4].map(() => checkHealth(clickhouse, [], THRESHOLDS, now)))
  expect(await storedEvents(clickhouse)).toHaveLength(1)
})

test('a component that is catching up is not announced until it stops doing so; blocks are counted to the head that ingest sees', async ({
  clickhouse,
}) => {
  const check = async (seconds: number) => {
    const health = await checkHealth(clickhouse, JOBS, THRESHOLDS, new Date((START + seconds) * 1000))
    return [
      health?.states[0]?.lag_blocks,
      ...(health?.changed ?? []).map(({ component, status }) => `${component} ${status}`),
    ]
  }
  const clock = (seconds: number) => new Date((START + seconds) * 1000).toISOString().replace('T', ' ').replace('Z', '')
  /** The tip adds blocks, one per minute of chain time, the last of them this long before the clock. */
  let block = 0
  const ingest = async (at: number, count: number, behind: number): Promise<void> => {
    const from_block = block + 1
    const times = Array.from({ length: count }, (_, i) => START + at - behind - 60 * (count - 1 - i))
    await addBareBlocks(clickhouse, times, from_block)
    block += count
    const range = { from_block, to_block: block, last_hash: '0x', writer: 'test', families: ['logs'], stables: [] }
    const batch = { track: 'tip', sequence_number: block, state: 'committed', recorded_at: clock(at), ...range }
    await insertRows(clickhouse, 'ingest_batches', [batch], `tip ${block}`)
  }
  const job = async (at: number, slot: number): Promise<void> => {
    const run = { job: 'peg-events', slot_at: START + slot, revision: 0, state: 'done', result_rows: 0, error: '' }
    const when = { started_at: clock(at), duration_ms: 0, instance: 'test' }
    await insertRows(clickhouse, 'job_runs', [{ ...run, ...when }], `slot ${slot}`)
  }

  // A first start, a day behind.
  await ingest(0, 10, 80_000)
  expect(await check(10)).toEqual([null])
  const head = { tag: 'latest', block_number: 1500, block_time: START + 60, seen_at: clock(60) }
  await insertRows(clickhouse, 'chain_heads', [head], 'head')
  await ingest(60, 500, 50_000)
  expect(await check(61)).toEqual([990])
  // A head that was recorded long ago is not used.
  expect(await check(125)).toEqual([null])
  await ingest(400, 400, 30_000)
  await job(400, -40_000)
  expect(await check(401)).toEqual([null])

  // From here on ingest advances less than the clock.
  await ingest(700, 1, 30_240)
  expect(await check(701)).toEqual([null, 'ingest behind', 'job:peg-events overdue'])
  await ingest(702, 300, 10_000)
  expect(await check(703)).toEqual([null])
  await ingest(710, 160, 10)
  await job(720, -1000)
  expect(await check(721)).toEqual([null, 'ingest ok'])
  await job(730, 600)
  expect(await check(731)).toEqual([null, 'job:peg-events ok'])
})
