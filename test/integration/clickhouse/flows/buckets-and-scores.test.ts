import { randomBytes } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import {
  differingBuckets,
  FLOW_WINDOW_SECONDS,
  flowBucketsOf,
  flowEdgeStartsOf,
  staleBuckets,
  windowOf,
} from '../../../../clickhouse/flows/buckets.js'
import { flowZScores, flowZScoresOfRange, MIN_ABS_Z } from '../../../../clickhouse/flows/scores.js'
import { randomFor } from '../../../../local/chain/random.js'
import { rebuild } from '../../../../tools/rebuild/rebuild.js'
import { deployed, formatted } from '../../../support/deployed-views.js'
import { depth } from '../../../support/depth.js'
import { fitfulFlows, wildFlows } from '../../../support/flow-market.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addBlocks, addFacts, flow, stableAddress, txHash } from '../../../support/rows.js'
import { test, withDatabase } from '../../../support/services.js'

/** A multiple of 15 minutes. */
const START = 1_780_000_200
const ALWAYS = { first: 0, last: 4_294_967_100 }

async function read<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()
}

/** The buckets as [window's number from START, from, to, micros, flows, unvalued, their base units in and out, transactions]. */
async function buckets(clickhouse: ClickHouseClient): Promise<number[][]> {
  const rows = await read<{ row: number[] }>(
    clickhouse,
    `SELECT [intDiv(toUnixTimestamp(window_start) - ${START}, 900), toInt64(right(from_token, 1)), toInt64(right(to_token, 1)),
             toInt64(volume_micros), toInt64(flow_count), toInt64(unvalued_count), toInt64(unvalued_in_raw), toInt64(unvalued_out_raw),
             toInt64(transaction_count)] AS row
     FROM flow_buckets FINAL ORDER BY row`,
  )
  return rows.map(({ row }) => row.map(Number))
}

const starts = async (clickhouse: ClickHouseClient) =>
  (
    await read<{ row: number[] }>(
      clickhouse,
      `SELECT [toInt64(right(from_token, 1)), toInt64(right(to_token, 1)), intDiv(toInt64(toUnixTimestamp(first_window)) - ${START}, 900)] AS row
       FROM flow_edge_starts FINAL ORDER BY row`,
    )
  ).map(({ row }) => row.map(Number))

const FLOWS = [
  flow(1, 2, START),
  flow(1, 2, START + 899, { usd_micros: null }),
  // Two flows in one transaction.
  flow(1, 2, START + 450, { tx_hash: txHash(7) }),
  flow(1, 2, START + 450, { tx_hash: txHash(7), log_index: 1 }),
  flow(1, 2, START + 900),
  flow(2, 1, START + 1800),
  flow(3, 0, START, { kind: 'bridge', to_token: '' }),
]
const BUCKETS = [
  [0, 1, 2, 3_000_000, 4, 1, 1_000_000, 999_000, 3],
  [1, 1, 2, 1_000_000, 1, 0, 0, 0, 1],
  [2, 2, 1, 1_000_000, 1, 0, 0, 0, 1],
]

test('a window has the flows from its start (included) to its end (excluded), in whatever order transactions were inserted', async ({
  clickhouse,
}) => {
  for (const hash of new Set(FLOWS.toReversed().map(({ tx_hash }) => tx_hash)))
    await addFacts(clickhouse, { flows: FLOWS.filter(({ tx_hash }) => tx_hash === hash) })
  expect(await buckets(clickhouse)).toEqual(BUCKETS)
  expect(await starts(clickhouse)).toEqual([
    [1, 2, 0],
    [2, 1, 2],
  ])
  expect(await staleBuckets(clickhouse, ALWAYS)).toBe(0)
  expect(await differingBuckets(clickhouse, { to: START + 10_000 })).toEqual([])
})

test('a repeated insert is counted once', async ({ clickhouse }) => {
  const token = randomBytes(6).toString('hex')
  await insertFacts(clickhouse, 'flows', FLOWS, token)
  await insertFacts(clickhouse, 'flows', FLOWS, token)
  expect(await buckets(clickhouse)).toEqual(BUCKETS)
})

test('removed blocks are also removed from buckets and the starts of edges', async ({ clickhouse }) => {
  await addBlocks(clickhouse, [START, START + 950, START + 1800], START)
  await addFacts(clickhouse, { flows: FLOWS.map((one) => ({ ...one, block_number: one.block_time })) })
  await addFacts(clickhouse, { flows: [flow(1, 2, START + 950), flow(3, 1, START + 951), flow(3, 1, START + 2000)] })
  await removeFacts(clickhouse, { from_block: START + 1, from_time: START })
  await repairedViews(clickhouse)
  expect(await buckets(clickhouse)).toEqual([[0, 1, 2, 1_000_000, 1, 0, 0, 0, 1]])
  await addFacts(clickhouse, { flows: [flow(1, 2, START + 930)] })
  expect(await buckets(clickhouse)).toEqual([
    [0, 1, 2, 1_000_000, 1, 0, 0, 0, 1],
    [1, 1, 2, 1_000_000, 1, 0, 0, 0, 1],
  ])
  expect(await starts(clickhouse)).toEqual([[1, 2, 0]])
  expect(await differingBuckets(clickhouse, { to: START + 10_000 })).toEqual([])
})

test.for([
  ['a bucket is counted twice', 'INSERT INTO flow_buckets SELECT * FROM flow_buckets LIMIT 1', [1, 1]],
  ['a bucket is missing', `DELETE FROM flow_buckets WHERE window_start = ${START}`, [1, 1]],
  ['an edge has no start', 'DELETE FROM flow_edge_starts WHERE 1', [2, 2]],
  [
    'an edge begins too early',
    `INSERT INTO flow_edge_starts SELECT from_token, to_token, first_window - 900 FROM flow_edge_starts LIMIT 1`,
    // A recorded start that is too early cannot be caused by a batch.
    [0, 2],
  ],
] as const)(
  '%s: that is found, and a rebuild makes it good',
  async ([, damage, [stale, differing]], { clickhouse }) => {
    await addFacts(clickhouse, { flows: FLOWS })
    await clickhouse.command({ query: damage })
    expect(await staleBuckets(clickhouse, ALWAYS)).toBe(stale)
    const [first] = await differingBuckets(clickhouse, { to: START + 10_000 })
    expect(first).toMatchObject({ edge: expect.stringContaining(stableAddress(1)), differing })

    expect((await rebuild(clickhouse, 'flow_buckets')).days).toBe(1)
    await rebuild(clickhouse, 'flow_edge_starts')
    expect(await differingBuckets(clickhouse, { to: START + 10_000 })).toEqual([])
    expect(await buckets(clickhouse)).toEqual(BUCKETS)
    await addFacts(clickhouse, { flows: [flow(1, 2, START + 10)] })
    expect((await buckets(clickhouse))[0]).toEqual([0, 1, 2, 4_000_000, 5, 1, 1_000_000, 999_000, 4])
    expect((await rebuild(clickhouse, 'flow_buckets')).differing).toBe(0)
  },
)

test('the views compute the same as the statements that rebuild their tables', async ({ clickhouse }) => {
  expect(await deployed(clickhouse, 'flow_buckets_mv')).toBe(await formatted(clickhouse, flowBucketsOf()))
  expect(await deployed(clickhouse, 'flow_edge_starts_mv')).toBe(await formatted(clickhouse, flowEdgeStartsOf()))
})

const HISTORIES = depth('HISTORIES', 2, 10)
const SEED = Number(process.env.FAULT_SEED ?? 1)
const DAY = 86_400

test('the anomalies of many windows at once are those of each by itself', { timeout: 600_000 }, async () => {
  const kinds = { surge: 0, drop: 0, silence: 0 }
  for (let history = 0; history < HISTORIES; history++) {
    const random = randomFor(SEED, 'ranges', history)
    await withDatabase(async (_, clickhouse) => {
      const days = random.int(3, 25)
      const end = windowOf(Math.floor(Date.now() / 1000))
      const start = end - days * DAY
      const flows = [...wildFlows(100 * SEED + history, start, end), ...fitfulFlows(random, start, end)]
      await addFacts(clickhouse, { flows })
      for (let range = 0; range < 5; range++) {
        const windows = random.int(1, random.pick([3, 60]))
        const first = windowOf(start + random.int(0, days * DAY))
        const last = first + (windows - 1) * FLOW_WINDOW_SECONDS
        const asked = { min_abs_z: random.pick([0, MIN_ABS_Z]), read_since: random.pick([0, 0, start, start + DAY]) }
        const apart = []
        for (let window = first; window <= last; window += FLOW_WINDOW_SECONDS) {
          const window_start = new Date(window * 1000)
          const found = await flowZScores(clickhouse, { window_start, ...asked })
          for (const { kind } of found) kinds[kind]++
          apart.push(...found.map((score) => ({ ...score, window_start })))
        }
        const together = await flowZScoresOfRange(clickhouse, {
          first: new Date(first * 1000),
          last: new Date(last * 1000),
          ...asked,
        })
        expect(together, `FAULT_SEED=${SEED}, history ${history}, range ${range}`).toEqual(apart)
      }
    })
  }
  expect(Math.min(...Object.values(kinds))).toBeGreaterThan(5)
})
