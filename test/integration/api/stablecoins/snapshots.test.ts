import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import { insertHistoryChange } from '../../../../clickhouse/chain/history-changes.js'
import { insertDoneRollback, insertPlannedRollback } from '../../../../clickhouse/chain/rollbacks.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { test } from '../../../support/app.js'
import { addBatch } from '../../../support/ledger.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead } from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const STABLE = stableAddress(1)
const HOUR = 3600

type App = {
  inject: (url: string) => Promise<{ statusCode: number; headers: object; json: () => Record<string, unknown> }>
}

const KINDS = [
  // The composite and the extended score.
  { what: 'risk', snapshot: snapshotRisk, table: 'risk_snapshots', rows: 2 },
  { what: 'reserves', snapshot: snapshotReserves, table: 'reserve_snapshots', rows: 1 },
] as const

const hourOf = ({ now }: { now: Date }): number => Math.floor(now.getTime() / 1000 / HOUR) * HOUR
const iso = (at: number): string => new Date(at * 1000).toISOString()

const ask = async (app: App, what: string, query = '', stable = STABLE) => {
  const response = await app.inject(`/api/v1/stablecoins/${stable}/${what}${query}`)
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string>,
    body: response.json(),
  }
}

/** A stable at `price` with this supply, read a minute before `at`, and the block after `at` that makes its slot due. */
async function addMarket(clickhouse: ClickHouseClient, at: number, { price = 1_000_000, supply = '5000000' } = {}) {
  await addBlocks(clickhouse, [at - 60], at - 60)
  await addBlocks(clickhouse, [at + 1], at + 1)
  // All other blocks are empty.
  await addBatch(clickhouse, 'test', at, { from_block: 1, to_block: at + 1 })
  await addFacts(clickhouse, {
    samples: pegSamples(STABLE, [{ at: at - 60, price }], at - 60),
    states: [stateRead(STABLE, { supply_raw: supply, block_time: at - 60, block_number: at - 60 })],
  })
}

/** Removes the blocks after `kept_time`; `recorded_at`, in unix seconds, is now if omitted. */
async function rollBack(
  clickhouse: ClickHouseClient,
  sequence_number: number,
  kept_time: number,
  recorded_at?: number,
) {
  const rollback = {
    sequence_number,
    kept_block: kept_time,
    kept_hash: '',
    kept_time,
    removed_to: kept_time + HOUR,
    after_sequence: 0,
    reason: 'test',
    writer: 'test',
    ...(recorded_at !== undefined && { recorded_at: recorded_at.toFixed(3) }),
  }
  await insertPlannedRollback(clickhouse, rollback)
  await insertDoneRollback(clickhouse, rollback)
}

const rowsOf = async (clickhouse: ClickHouseClient, table: string): Promise<unknown[]> =>
  (
    await clickhouse.query({
      query: `SELECT * FROM ${table} ORDER BY stable, slot_at, revision`,
      format: 'JSONEachRow',
    })
  ).json()

describe.for(KINDS)('$what', ({ what, snapshot, table, rows }) => {
  test('the answer at any time is the newest snapshot at or before it', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    for (const at of [end - 2 * HOUR, end - HOUR, end]) {
      await addMarket(clickhouse, at)
      await snapshot(clickhouse, slotAt(what, at))
    }
    for (const [asOf, slot] of [
      [end - 2 * HOUR, end - 2 * HOUR],
      [end - HOUR - 1, end - 2 * HOUR],
      [end - HOUR, end - HOUR],
      [end + 1, end],
    ] as const) {
      const { status, headers, body } = await ask(app, what, `?as_of=${asOf}`)
      expect(status).toBe(200)
      expect(body.computed_at).toBe(iso(slot))
      expect(headers['x-service-as-of']).toBe(iso(asOf).replace('.000', ''))
    }
    const live = await ask(app, what)
    expect(live.body).toEqual((await ask(app, what, '?as_of=0m')).body)
    expect(live.headers).not.toHaveProperty('x-service-as-of')
  })

  test('history is append-only: later slots and repeats leave every row as it was', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    await addMarket(clickhouse, end - HOUR)
    await snapshot(clickhouse, slotAt(what, end - HOUR))
    const before = await rowsOf(clickhouse, table)
    const answer = await ask(app, what, `?as_of=${end - 1}`)
    expect(before).toHaveLength(1)

    await addMarket(clickhouse, end, { price: 990_000, supply: '8000000' })
    await snapshot(clickhouse, slotAt(what, end))
    await snapshot(clickhouse, slotAt(what, end - HOUR))
    const after = await rowsOf(clickhouse, table)
    expect(after.slice(0, 1)).toEqual(before)
    expect(after).toHaveLength(2)
    await clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
    expect(await rowsOf(clickhouse, table)).toEqual(after)
    // Its coverage may grow with the blocks that are read.
    const { coverage: _, ...published } = answer.body
    expect((await ask(app, what, `?as_of=${end - 1}`)).body).toMatchObject(published)
    expect((await ask(app, what)).body).not.toEqual(answer.body)
  })

  test('a snapshot that a rollback invalidates is not shown, and its slot runs again under the next revision', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    await addMarket(clickhouse, end - HOUR)
    await snapshot(clickhouse, slotAt(what, end - HOUR))
    await addMarket(clickhouse, end, { price: 990_000, supply: '8000000' })
    await snapshot(clickhouse, slotAt(what, end))
    const overtaken = (await ask(app, what)).body

    // Blocks of the slot's own second may have been removed.
    await rollBack(clickhouse, 1, end)
    expect((await ask(app, what)).body).toMatchObject({ computed_at: iso(end - HOUR) })

    await addFacts(clickhouse, { samples: pegSamples(STABLE, [{ at: end - 1, price: 995_000 }], end - 1) })
    await snapshot(clickhouse, slotAt(what, end, 1))
    const renewed = (await ask(app, what)).body
    expect(renewed).toMatchObject({ computed_at: iso(end) })
    expect(renewed).not.toEqual(overtaken)
    await clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
    expect(await rowsOf(clickhouse, table)).toHaveLength(3)
    expect((await ask(app, what)).body).toEqual(renewed)

    await rollBack(clickhouse, 2, end + 1)
    expect((await ask(app, what)).body).toEqual(renewed)
  })

  test('a snapshot that a backfill outdates is shown until its slot runs again, even after an earlier rollback', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    await addMarket(clickhouse, end - HOUR)
    await snapshot(clickhouse, slotAt(what, end - HOUR))
    await rollBack(clickhouse, 1, end)
    await addMarket(clickhouse, end, { price: 990_000, supply: '8000000' })
    await snapshot(clickhouse, slotAt(what, end, 1))
    const known = (await ask(app, what)).body
    await insertHistoryChange(clickhouse, {
      sequence_number: 1,
      backfill_sequence: 1,
      kept_time: end - HOUR,
      after_rollback: 1,
    })
    await addFacts(clickhouse, { samples: pegSamples(STABLE, [{ at: end - 1, price: 995_000 }], end - 1) })
    expect((await ask(app, what)).body).toEqual(known)
    await snapshot(clickhouse, slotAt(what, end, 2))
    const renewed = (await ask(app, what)).body
    expect(renewed).toMatchObject({ computed_at: iso(end) })
    expect(renewed).not.toEqual(known)
    // The next rollback increments the change again.
    await rollBack(clickhouse, 2, end)
    expect((await ask(app, what)).body).toMatchObject({ computed_at: iso(end - HOUR) })
  })

  test('a slot that is done again adds a revision, and the earlier one is still answered with known_at', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock) - HOUR
    const published = (minutes: number) => () => new Date((end + minutes * 60) * 1000)
    const known = (minutes: number) => `&known_at=${end + minutes * 60}`
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    await addMarket(clickhouse, end)
    expect(await snapshot(clickhouse, slotAt(what, end), published(5))).toBe(rows)
    const first = await ask(app, what, `?as_of=${end}${known(5)}`)
    expect(first).toMatchObject({
      status: 200,
      body: {
        computed_at: iso(end),
        published_at: iso(end + 300),
        revision: 0,
        is_newest_revision: null,
        known_at: iso(end + 300).replace('.000', ''),
      },
    })

    // A backfill adds facts, and the slot is done again.
    await addFacts(clickhouse, { samples: pegSamples(STABLE, [{ at: end - 1, price: 995_000 }], end - 1) })
    expect(await snapshot(clickhouse, slotAt(what, end, 1), published(10))).toBe(rows)
    const newest = (await ask(app, what, `?as_of=${end}`)).body
    expect(newest).toMatchObject({ published_at: iso(end + 600), revision: 1, is_newest_revision: true })
    expect(newest).not.toHaveProperty('known_at')
    expect((await ask(app, what, `?as_of=${end}${known(9)}`)).body).toEqual({
      ...first.body,
      known_at: iso(end + 540).replace('.000', ''),
    })
    expect((await ask(app, what, `?as_of=${end}${known(10)}`)).body).toMatchObject({ revision: 1 })
    // Without as_of, it is the same instant.
    const alone = await ask(app, what, `?${known(10).slice(1)}`)
    expect(alone).toMatchObject({ headers: { 'x-service-as-of': iso(end + 600).replace('.000', '') } })
    expect(alone.body).toEqual((await ask(app, what, `?as_of=${end + 600}${known(10)}`)).body)

    // Again without any news: nothing is published, and the first publication still counts.
    expect(await snapshot(clickhouse, slotAt(what, end, 2), published(15))).toBe(0)
    expect((await ask(app, what, `?as_of=${end}`)).body).toEqual(newest)
  })

  test('what a rollback withdraws is answered with known_at before it, and counts as published again after', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock) - HOUR
    const published = (minutes: number) => () => new Date((end + minutes * 60) * 1000)
    const at = (minutes: number) => `?as_of=${end + HOUR}&known_at=${end + minutes * 60}`
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    await addMarket(clickhouse, end)
    await snapshot(clickhouse, slotAt(what, end), published(5))
    await rollBack(clickhouse, 1, end, end + 600)
    // The same figures as before, but for a while they were not shown.
    expect(await snapshot(clickhouse, slotAt(what, end, 1), published(15))).toBe(rows)
    expect((await ask(app, what, at(4))).status).toBe(404)
    expect((await ask(app, what, at(9))).body).toMatchObject({ revision: 0, published_at: iso(end + 300) })
    expect(await ask(app, what, at(14))).toMatchObject({ status: 404, body: { parameter: 'known_at' } })
    expect((await ask(app, what, at(15))).body).toMatchObject({ revision: 1, published_at: iso(end + 900) })
  })

  test.for(['before it was stored', 'after it was stored'])(
    'a run that is killed $0 is repeated, and its rows are published once',
    async (when, { app, clickhouse, clock }) => {
      const end = hourOf(clock) - HOUR
      const published = (minutes: number) => () => new Date((end + minutes * 60) * 1000)
      await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
      await addMarket(clickhouse, end)
      const killed = Object.assign(Object.create(clickhouse) as ClickHouseClient, {
        insert: async (insert: Parameters<ClickHouseClient['insert']>[0]) => {
          if (insert.table !== table) return clickhouse.insert(insert)
          if (when === 'after it was stored') await clickhouse.insert(insert)
          throw new Error('killed')
        },
      })
      await expect(snapshot(killed, slotAt(what, end), published(5))).rejects.toThrow('insert into')
      await snapshot(clickhouse, slotAt(what, end), published(20))
      await snapshot(clickhouse, slotAt(what, end), published(25))
      expect(await rowsOf(clickhouse, table)).toHaveLength(1)
      const expected = iso(end + (when === 'after it was stored' ? 300 : 1200))
      expect((await ask(app, what)).body).toMatchObject({ published_at: expected })
    },
  )

  test('known_at has the formats of as_of; the future is a 400, and before the first publication a 404', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock) - HOUR
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    await addMarket(clickhouse, end)
    await snapshot(clickhouse, slotAt(what, end), () => new Date((end + 60) * 1000))
    for (const known of ['0m', `${end + 60}`, iso(end + 60)])
      expect((await ask(app, what, `?known_at=${known}`)).status, known).toBe(200)
    const future = `?known_at=${Math.floor(clock.now.getTime() / 1000) + 60}`
    for (const known of [future, '?known_at=tomorrow'])
      expect(await ask(app, what, known)).toMatchObject({ status: 400, body: { parameter: 'known_at' } })
    for (const known of [`${end + 59}`, '0', '1960-01-01', '999999d'])
      expect(await ask(app, what, `?known_at=${known}`), known).toMatchObject({
        status: 404,
        body: { type: 'urn:plumbline:problem:before-history', parameter: 'known_at' },
      })
  })

  test('before the first snapshot there is a 404 with a note', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(2, { block_time: end + 1 })] })
    await addMarket(clickhouse, end)
    const live = await ask(app, what)
    expect(live.status).toBe(404)
    expect(live.body).toMatchObject({
      type: 'urn:plumbline:problem:before-history',
      detail: expect.stringContaining('append-only'),
    })
    await snapshot(clickhouse, slotAt(what, end))
    for (const asOf of [`${end - 1}`, '2026-04-13', '0', '1960-01-01', '999999d']) {
      const { status, body } = await ask(app, what, `?as_of=${asOf}`)
      expect(status, asOf).toBe(404)
      expect(body).toMatchObject({
        type: 'urn:plumbline:problem:before-history',
        parameter: 'as_of',
        detail: expect.stringContaining(`no ${what} snapshot of this stable as of `),
      })
    }
    // It was created after the slot.
    expect((await ask(app, what, '', stableAddress(2))).status).toBe(404)
  })

  test('unknown stables, future times and unknown parameters are refused', async ({ app, clickhouse, clock }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    const unknown = await ask(app, what, '', stableAddress(9))
    expect(unknown).toMatchObject({ status: 404, body: { type: 'urn:plumbline:problem:unknown-stable' } })
    const future = await ask(app, what, `?as_of=${Math.floor(clock.now.getTime() / 1000) + 60}`)
    expect(future).toMatchObject({ status: 400, body: { parameter: 'as_of' } })
    expect(await ask(app, what, '?at=7d')).toMatchObject({ status: 400, body: { parameter: 'at' } })
  })
})

test('both answers are as specified', async ({ app, clickhouse, clock }) => {
  const end = hourOf(clock)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(0, { stable: REFERENCE_STABLE })] })
  await addMarket(clickhouse, end, { price: 998_700, supply: '2500000000000' })
  await addFacts(clickhouse, {
    samples: pegSamples(REFERENCE_STABLE, [{ at: end - 60, price: 'anchor' }], end - 60),
    states: [stateRead(REFERENCE_STABLE, { supply_raw: '7000000' })],
  })
  await snapshotRisk(clickhouse, slotAt('risk', end))
  await snapshotReserves(clickhouse, slotAt('reserves', end))
  expect((await ask(app, 'reserves')).body).toEqual({
    address: STABLE,
    // 2,500,000 tokens at 0.9987.
    market_value_usd: 2_496_750,
    backing: null,
    total_backing_usd: 2_496_750,
    reserves: [
      {
        reserve_type: 'unknown',
        backing_usd: 2_496_750,
        attestation_source: null,
        attested_at: null,
        verified_by: 'unverified',
        notes: { label: 'Undisclosed issuer', issuer: 'unknown', backing_model: 'unknown' },
      },
    ],
    computed_at: iso(end),
    coverage: expect.objectContaining({ status: 'complete', message: 'Quoted on the DEX.' }),
    published_at: expect.any(String),
    revision: 0,
    is_newest_revision: true,
  })
  expect((await ask(app, 'reserves', '', REFERENCE_STABLE)).body).toMatchObject({
    market_value_usd: 7,
    backing: { claimed_model: expect.any(String), attested_at: expect.any(String) },
    total_backing_usd: 7,
    reserves: [
      { reserve_type: 'protocol_native', verified_by: 'service_curated', notes: { label: expect.any(String) } },
    ],
  })
})

describe('reserves', () => {
  test.for([
    ['no_pair', null, 'unavailable'],
    ['not_usd', null, 'unavailable'],
    ['no_liquidity', null, 'unavailable'],
    ['paused', null, 'unavailable'],
  ] as const)(
    'of a stable whose newest sample is %s',
    async ([status, backing, coverage], { app, clickhouse, clock }) => {
      const end = hourOf(clock)
      await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
      await addMarket(clickhouse, end - HOUR)
      await addFacts(clickhouse, { samples: pegSamples(STABLE, [{ at: end, price: status }], end) })
      await snapshotReserves(clickhouse, slotAt('reserves', end))
      const { body } = await ask(app, 'reserves')
      expect(body).toMatchObject({
        total_backing_usd: backing,
        reserves: [{ backing_usd: backing }],
        coverage: { status: coverage },
      })
    },
  )

  test('without a measured supply there is no backing', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    await addBatch(clickhouse, 'test', 1, { from_block: 1, to_block: end })
    await addBlocks(clickhouse, [end], end)
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(1)],
      samples: pegSamples(STABLE, [{ at: end, price: 1_000_000 }], end),
    })
    await snapshotReserves(clickhouse, slotAt('reserves', end))
    expect((await ask(app, 'reserves')).body).toMatchObject({
      total_backing_usd: null,
      coverage: { status: 'unavailable', message: 'Its supply was never read.' },
    })
  })
})
