import type { ClickHouseClient } from '@clickhouse/client'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { FAMILIES } from '../../../../clickhouse/chain/batches.js'
import { insertHistoryChange } from '../../../../clickhouse/chain/history-changes.js'
import { breakEvents, type FoundEvent, flowAnomalyEvent } from '../../../../clickhouse/events/types.js'
import { insertJobRun } from '../../../../clickhouse/jobs/runs.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { ADMIN_KEY, WEBHOOK_TERMS } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { SURGE } from '../../../support/events.js'
import {
  addBareBlocks,
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
} from '../../../support/rows.js'
import { test, withDatabase } from '../../../support/services.js'
import { slotAt } from '../../../support/slots.js'

const HOUR = 3600
/** The first hour with a slot, and the time by the jobs' clock at which everything is over. */
const START = 1_780_000_000 - (1_780_000_000 % HOUR)
const SLOTS = [0, 1, 2].map((i) => START + i * HOUR)
const END = START + 4 * HOUR
const BLOCKS_OF_AN_HOUR = 1000

/** What happens, in random order. Facts may be of any time before: then they were backfilled. */
const Step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('facts' as const),
      hour: fc.nat(2),
      price: fc.integer({ min: 980_000, max: 1_020_000 }),
      stable: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('slot' as const), hour: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rollback' as const), hour: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('backfilled' as const), hour: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('created' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('announced' as const),
      hour: fc.nat(2),
      about: fc.constantFrom('anomaly' as const, 'started' as const, 'ended' as const),
      z: fc.integer({ min: 3, max: 9 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retracted' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('batch' as const),
      hour: fc.nat(2),
      track: fc.constantFrom('tip' as const, 'backfill' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('gap' as const),
      hour: fc.nat(2),
      family: fc.constantFrom('logs' as const, 'pegs' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('list' as const), hour: fc.nat(2), has: fc.boolean() }) },
)
type Step = typeof Step extends fc.Arbitrary<infer T> ? T : never

/** A history in which each kind of step changes the answers of now, and a later one that has every kind. */
const EVERY_KIND: [before: Step[], after: Step[]] = [
  [
    ...[0, 1, 2].map((hour) => ({ do: 'batch' as const, hour, track: 'tip' as const })),
    { do: 'facts', hour: 0, price: 990_000, stable: 1 },
    { do: 'slot', hour: 0 },
    { do: 'slot', hour: 1 },
    { do: 'announced', hour: 0, about: 'anomaly', z: 4 },
    { do: 'announced', hour: 0, about: 'started', z: 5 },
    { do: 'announced', hour: 1, about: 'started', z: 6 },
  ],
  [
    { do: 'gap', hour: 1, family: 'logs' },
    { do: 'gap', hour: 1, family: 'pegs' },
    { do: 'list', hour: 1, has: false },
    { do: 'retracted', which: 0 },
    { do: 'announced', hour: 1, about: 'ended', z: 7 },
    { do: 'announced', hour: 2, about: 'anomaly', z: 8 },
    { do: 'batch', hour: 1, track: 'backfill' },
    { do: 'created' },
    { do: 'facts', hour: 0, price: 1_010_000, stable: 1 },
    { do: 'backfilled', hour: 0 },
    { do: 'slot', hour: 0 },
    { do: 'slot', hour: 2 },
    { do: 'rollback', hour: 1 },
  ],
]

const ANOMALY = {
  from_token: stableAddress(1),
  to_token: stableAddress(2),
  ...SURGE,
}

/** The announcement of an anomaly, or of a break's start and end, about the hour before `at`. */
function announcement(step: { about: 'anomaly' | 'started' | 'ended'; z: number }, at: number): FoundEvent[] {
  if (step.about === 'anomaly')
    return [flowAnomalyEvent({ ...ANOMALY, z_score: step.z, window_start: new Date((at - 900) * 1000) })]
  const isOver = step.about === 'ended'
  const pegBreak = {
    stable: stableAddress(1),
    severity: 'mild' as const,
    direction: 'below' as const,
    started_at: at - 1800,
    started_block: 7,
    confirmed_at: at - 1500,
    ended_at: isOver ? at - 60 : null,
    ended_block: isOver ? 9 : null,
    max_deviation_micros: step.z * 1000,
    standing_tokens: null,
  }
  return breakEvents('published', pegBreak, { after: isOver ? at - 900 : at - HOUR, at })
}

type LogEvent = Omit<FoundEvent, 'type'> & { type: string }

/** A history that is made step by step, each at its own second of the clock. */
function world(clickhouse: ClickHouseClient) {
  let changes = 0
  let rollbacks = 0
  let number = 1
  let lists = 0
  let tipBatches = 0
  const announced: LogEvent[] = []
  const record = async (events: readonly LogEvent[], at: number): Promise<void> => {
    for (const { data, occurred_at, ...event } of events) {
      announced.push({ data, occurred_at, ...event })
      const row = {
        ...event,
        sequence_number: announced.length,
        occurred_at: occurred_at.getTime() / 1000,
        data: JSON.stringify(data),
        slot_at: 0,
        revision: changes + rollbacks,
        recorded_at: at.toFixed(3),
      }
      await insertRows(clickhouse, 'events', [row], `${announced.length}`)
    }
  }
  return async (step: Step, at: number): Promise<void> => {
    const now = () => new Date(at * 1000)
    number++
    if (step.do === 'created')
      await addFacts(clickhouse, {
        stablecoins: [stablecoin(number, { stable: stableAddress(3), block_time: START - HOUR })],
      })
    if (step.do === 'facts') {
      const time = (SLOTS[step.hour] as number) - 60 - number
      await addFacts(clickhouse, {
        samples: pegSamples(stableAddress(step.stable), [{ at: time, price: step.price }], number),
        states: [
          stateRead(stableAddress(step.stable), {
            supply_raw: `${step.price}`,
            block_time: time,
            block_number: number,
          }),
        ],
      })
    }
    if (step.do === 'announced') await record(announcement(step, SLOTS[step.hour] as number), at)
    if (step.do === 'retracted' && announced.length > 0) {
      const event = announced[step.which % announced.length] as LogEvent
      const retraction = { id: `evt_${announced.length}`, type: 'event.retracted', subject: event.id, data: {} }
      if (event.type !== 'event.retracted') await record([{ ...event, ...retraction }], at)
    }
    if (step.do === 'slot') {
      await snapshotRisk(clickhouse, slotAt('risk', SLOTS[step.hour] as number, changes + rollbacks), now)
      await snapshotReserves(clickhouse, slotAt('reserves', SLOTS[step.hour] as number, changes + rollbacks), now)
      for (const job of ['peg-events', 'flow-anomalies'])
        await insertJobRun(clickhouse, {
          job,
          slot_at: SLOTS[step.hour] as number,
          revision: changes + rollbacks,
          state: 'done',
          result_rows: 0,
          error: '',
          started_at: at.toFixed(3),
          duration_ms: 0,
          instance: 'test',
        })
    }
    if (step.do === 'batch') {
      // Three blocks of the hour, which may be older than others that are known.
      const from_block = BLOCKS_OF_AN_HOUR * (step.hour + 1) + 3 * (number % 100)
      const first = (SLOTS[step.hour] as number) - HOUR + 36 * (number % 100)
      await addBareBlocks(clickhouse, [first, first + 6, first + 12], from_block)
      const sequence_number = step.track === 'tip' ? ++tipBatches : number
      const batch = { track: step.track, sequence_number, from_block, to_block: from_block + 2 }
      const committed = { ...batch, state: 'committed', families: FAMILIES, stables: [], last_hash: '', writer: '' }
      await insertRows(clickhouse, 'ingest_batches', [{ ...committed, recorded_at: at.toFixed(3) }], `batch:${number}`)
    }
    if (step.do === 'gap') {
      const from_block = BLOCKS_OF_AN_HOUR * (step.hour + 1)
      const gap = { family: step.family, from_block, to_block: from_block + BLOCKS_OF_AN_HOUR - 1 }
      await insertRows(clickhouse, 'ingest_gaps', [{ ...gap, reason: '', recorded_at: at.toFixed(3) }], `gap:${number}`)
    }
    if (step.do === 'list') {
      const holds_from = (SLOTS[step.hour] as number) - HOUR / 2
      const from_block = BLOCKS_OF_AN_HOUR * (step.hour + 1) + number
      const list = { sequence_number: ++lists, from_block, holds_from, track: 'listed', source: 'of a test' }
      const stables = step.has ? [stableAddress(1)] : []
      await insertRows(clickhouse, 'token_lists', [{ ...list, stables, recorded_at: at.toFixed(3) }], `list:${lists}`)
    }
    const kept_time = SLOTS['hour' in step ? step.hour : 0] as number
    if (step.do === 'rollback') {
      rollbacks++
      const rollback = {
        sequence_number: rollbacks,
        kept_block: BLOCKS_OF_AN_HOUR * (step.hour + 1),
        kept_time,
        removed_to: BLOCKS_OF_AN_HOUR * 10,
        after_sequence: tipBatches,
        recorded_at: at.toFixed(3),
      }
      for (const state of ['planned', 'done'])
        await insertRows(clickhouse, 'ingest_rollbacks', [{ ...rollback, state }], `${rollbacks}:${state}`)
    }
    if (step.do === 'backfilled') {
      changes++
      await insertHistoryChange(clickhouse, {
        sequence_number: changes,
        backfill_sequence: changes,
        kept_time,
        after_rollback: rollbacks,
      })
    }
  }
}

type App = Awaited<ReturnType<typeof buildApp>>

/** All types but retractions, whose data are not of interest here. */
const TYPES = 'types=peg_break.started,peg_break.ended,flow_anomaly.detected'

/** Every GET route with the parameter, as the description of the API lists them. */
async function routesWithKnownAt(app: App): Promise<string[]> {
  const { paths } = (await app.inject('/openapi.json')).json() as {
    paths: Record<string, { get?: { parameters?: { name: string }[] } }>
  }
  return Object.entries(paths)
    .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === 'known_at'))
    .map(([path]) => path)
}

/** The answers of every such route about several times, as published by `knownAt`. */
async function answers(app: App, routes: readonly string[], knownAt: number): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const route of routes)
    for (const stable of [1, 3].map(stableAddress)) {
      const queries = route.endsWith('/series')
        ? [
            `from=${START - HOUR}&to=${END}&interval=1h&known_at=${knownAt}`,
            `from=${START}&format=csv&known_at=${knownAt}`,
          ]
        : route.endsWith('/events')
          ? [`${TYPES}&known_at=${knownAt}`, `${TYPES}&after=0&limit=3&known_at=${knownAt}`]
          : [`known_at=${knownAt}`, ...SLOTS.slice(0, 2).map((at) => `as_of=${at + 1}&known_at=${knownAt}`)]
      for (const query of queries) {
        const url = `${route.replace('{address}', stable)}?${query}`
        const { statusCode, body } = await app.inject(url)
        expect([200, 404], `${url}: ${body}`).toContain(statusCode)
        found[url] = `${statusCode} ${body}`
      }
    }
  return found
}

const RUNS = depth('KNOWN_AT_RUNS', 2, 100)

test('an answer with known_at stays the same to the byte, whatever is added, redone or rolled back later', async () => {
  let published = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(Step, { minLength: 2, maxLength: 10 }),
      fc.array(Step, { minLength: 1, maxLength: 8 }),
      async (before, after) => {
        await withDatabase(async (_, clickhouse) => {
          const clock = { now: new Date(0) }
          const app = await buildApp({
            clickhouse,
            now: () => clock.now,
            adminKey: ADMIN_KEY,
            webhooks: WEBHOOK_TERMS,
            logger: pino({ level: 'silent' }),
          })
          try {
            const happens = world(clickhouse)
            await addBlocks(clickhouse, [START - HOUR])
            await addFacts(clickhouse, { stablecoins: [1, 2].map((i) => stablecoin(i)) })
            let at = END
            for (const step of before) {
              at += 2
              await happens(step, at)
            }
            clock.now = new Date(at * 1000)
            const routes = await routesWithKnownAt(app)
            expect(routes).toHaveLength(6)
            // Between two steps too, since nothing of the last one may count then.
            const asked = [at, at - 3]
            const first = await Promise.all(asked.map((knownAt) => answers(app, routes, knownAt)))
            for (const step of after) {
              at += 2
              await happens(step, at)
            }
            clock.now = new Date((at + HOUR) * 1000)
            const second = await Promise.all(asked.map((knownAt) => answers(app, routes, knownAt)))
            expect(second).toEqual(first)
            published += Object.values(first[0] ?? {}).filter((answer) => answer.startsWith('200')).length
          } finally {
            await app.close()
          }
        })
      },
    ),
    { numRuns: RUNS, seed: 14, endOnFailure: true, examples: [EVERY_KIND] },
  )
  expect(published).toBeGreaterThan(RUNS)
}, 600_000)
