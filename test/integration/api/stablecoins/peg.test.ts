import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect, onTestFinished } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { expectedWindows, LONGEST_WINDOW, WINDOW_SECONDS } from '../../../../oracle/peg-windows.js'
import { test } from '../../../support/app.js'
import {
  addBareBlocks,
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  type Tick,
} from '../../../support/rows.js'

const STABLE = stableAddress(1)
const DAY = 86_400

const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
const seconds = (instant: Date): number => Math.floor(instant.getTime() / 1000)

/** Pseudorandom numbers, the same in every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
}

const LENGTHS = Object.values(WINDOW_SECONDS)

/**
 * A market until `end`, from three days before the longest window: a block every few minutes, later every half minute, every second in the
 * last minutes and around each window's start; stalls of more than 120 s, dry books, breaks of both sizes.
 */
function market(end: number): Tick[] {
  const next = sequence(7)
  const dense = [0, ...LENGTHS].map((length) => end - length)
  const ticks: Tick[] = []
  for (let at = end - LONGEST_WINDOW - 3 * DAY; at <= end; ) {
    const price = next(40) === 0 ? 'no_liquidity' : 1_000_000 + next(3000) - 1500 + (next(10) === 0 ? 6000 : 0)
    ticks.push({ at, price })
    const isDense = dense.some((moment) => Math.abs(at - moment) < 400)
    at += isDense ? 1 + next(4) : at > end - 2 * DAY ? 30 + next(200) : 200 + next(400)
  }
  return ticks
}

type App = { inject: (url: string) => Promise<{ statusCode: number; headers: object; json: () => never }> }

const peg = async (app: App, query = '', stable = STABLE) => {
  const response = await app.inject(`/api/v1/stablecoins/${stable}/peg${query}`)
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string>,
    body: response.json() as PegBody,
  }
}
type PegBody = {
  as_of?: string
  current: { price_vs_refusd: number; sampled_at: string; block_number: number } | null
  coverage: { status: string; message: string }
  windows: ReturnType<typeof expectedWindows>
  windows_as_of: string | null
}

async function addMarket(clickhouse: ClickHouseClient, ticks: readonly Tick[]) {
  const samples = pegSamples(STABLE, ticks)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], samples })
  await addBlocks(
    clickhouse,
    ticks.map(({ at }) => at),
  )
  return samples
}

describe('as of a past instant', () => {
  test('the windows equal those computed from the samples, wherever their edges fall', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = seconds(clock.now)
    const samples = await addMarket(clickhouse, market(end))
    const next = sequence(3)
    const minute = end - (end % 60)
    const onSample = samples.filter(({ block_time }) => block_time > end - 300).map(({ block_time }) => block_time)
    const moments = [
      end,
      minute,
      minute - 1,
      minute + 1,
      minute - 59,
      minute - 60,
      ...onSample.slice(0, 3),
      ...onSample.slice(0, 3).map((at) => at - 1),
      // Starts of windows exactly on a sample, and a second to either side.
      ...LENGTHS.flatMap((length) => {
        const start = samples.find(({ block_time }) => block_time > end - length - 200)?.block_time as number
        return [start + length - 1, start + length, start + length + 1].filter((at) => at <= end)
      }),
      ...Array.from({ length: 15 }, () => end - next(3 * DAY)),
      end - 9 * DAY,
    ]
    for (const moment of moments) {
      const { status, body } = await peg(app, `?as_of=${moment}`)
      expect(status).toBe(200)
      expect(body.windows, `as of ${iso(moment)}`).toEqual(expectedWindows(samples, moment))
    }
  })

  test('the view behind the refreshed windows gives the same sums', async ({ app, clickhouse, clock }) => {
    const end = seconds(clock.now)
    await addMarket(clickhouse, market(end))
    for (const moment of [end, end - (end % 60), end - 12_345]) {
      const view = await clickhouse.query({
        query: `
          SELECT toUInt32(quoted_count) AS sample_count, toUInt32(unquoted_count) AS unquoted_count,
                 toUInt32(seconds_outside_10bps) AS seconds_outside_10bps, toUInt32(seconds_outside_50bps) AS seconds_outside_50bps
          FROM peg_windows_at(as_of = {as_of: DateTime}) WHERE stable = {stable: String} ORDER BY window_seconds`,
        query_params: { stable: STABLE, as_of: moment },
        format: 'JSONEachRow',
      })
      const { body } = await peg(app, `?as_of=${moment}`)
      const figures = body.windows.map(
        ({ sample_count, unquoted_count, seconds_outside_10bps, seconds_outside_50bps }) => ({
          sample_count,
          unquoted_count,
          seconds_outside_10bps,
          seconds_outside_50bps,
        }),
      )
      expect(figures).toEqual(await view.json())
    }
  })

  test('the answer repeats the instant in the body and in a header', async ({ app, clickhouse, clock }) => {
    const end = seconds(clock.now)
    await addMarket(clickhouse, market(end))
    for (const [text, moment] of [
      [String(end - 100), end - 100],
      [encodeURIComponent(iso(end - 100)), end - 100],
      ['90m', end - 5400],
      ['7d', end - 7 * DAY],
      [iso(end - DAY).slice(0, 10), Math.floor((end - DAY) / DAY) * DAY],
    ] as const) {
      const { headers, body } = await peg(app, `?as_of=${text}`)
      expect(body).toMatchObject({ as_of: iso(moment), windows_as_of: iso(moment) })
      expect(headers['x-service-as-of']).toBe(iso(moment))
      expect(headers['x-methodology-version']).toBe('2')
    }
  })

  test('current is the newest sample with a price at or before the instant', async ({ app, clickhouse, clock }) => {
    const t = seconds(clock.now) - 7200
    await addMarket(clickhouse, [
      { at: t, price: 999_000 },
      { at: t + 60, price: 1_002_500 },
      { at: t + 61, price: 'no_liquidity' },
      { at: t + 600, price: 'paused' },
      { at: t + 3000, price: 'no_liquidity' },
    ])
    const at = async (moment: number) => (await peg(app, `?as_of=${moment}`)).body
    expect((await at(t)).current).toEqual({
      price_vs_refusd: 0.999,
      spread_bps: 10,
      buy_price: 0.9991,
      mid_price: 0.99905,
      bid_ask_bps: 1,
      block_number: 1,
      sampled_at: `${iso(t).slice(0, 19).replace('T', ' ')}+00`,
      quoted: true,
      price_age_seconds: 0,
    })
    expect((await at(t + 59)).current?.block_number).toBe(1)
    expect((await at(t + 60)).current?.block_number).toBe(2)
    for (const moment of [t + 61, t + 599, t + 601, t + 2500, t + 3001, t + 7000]) {
      expect(await at(moment)).toMatchObject({ current: { block_number: 2 }, coverage: { status: 'partial' } })
    }
  })

  test('a live answer has nothing of a batch that is not stored whole, whose blocks its coverage does not have', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = seconds(clock.now) - 5
    await addMarket(clickhouse, [
      { at: end - 2, price: 999_000 },
      { at: end - 1, price: 998_000 },
    ])
    // The rows of the next batch are there, but it is not committed.
    const written = pegSamples(
      STABLE,
      [end - 2, end - 1, end].map((at) => ({ at, price: 900_000 })),
    )
    await addFacts(clickhouse, { samples: written.slice(2) })
    await addBareBlocks(clickhouse, [end], 3)
    const list = (await app.inject('/api/v1/stablecoins')).json()
    for (const current of [(await peg(app)).body.current, list.stablecoins[0].peg])
      expect(current).toMatchObject({ block_number: 2, spread_bps: 20 })
    await addBlocks(clickhouse, [end], 3)
    clock.now = new Date(clock.now.getTime() + 5000)
    expect((await peg(app)).body.current).toMatchObject({ block_number: 3, spread_bps: 1000 })
  })

  test('before the first sample of a later stable there is no price and there are three empty windows', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const t = seconds(clock.now) - 7200
    await addBlocks(clickhouse, [t - 3600, t])
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(1)],
      samples: pegSamples(STABLE, [{ at: t, price: 1_000_000 }], 2),
    })
    const { status, body } = await peg(app, `?as_of=${t - 1}`)
    expect(status).toBe(200)
    expect(body.current).toBeNull()
    expect(body.coverage.status).toBe('unavailable')
    expect(body.windows).toEqual(expectedWindows([], t - 1))
  })

  test('before the start of history the answer is a 404 that says so', async ({ app, clickhouse, clock }) => {
    const t = seconds(clock.now) - 7200
    await addMarket(clickhouse, [{ at: t, price: 1_000_000 }])
    for (const moment of [String(t - 1), '2020-01-01', '0', '1960-01-01', '999999d']) {
      const { status, body } = await peg(app, `?as_of=${moment}`)
      expect(status).toBe(404)
      expect(body).toMatchObject({
        type: 'urn:plumbline:problem:before-history',
        parameter: 'as_of',
        detail: expect.stringContaining(
          `before the start of history, ${new Date(t * 1000).toISOString().slice(0, 19)}Z`,
        ),
      })
    }
  })
})

describe('live', () => {
  test('before the first refresh the windows are computed as of the last five-minute mark', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = seconds(clock.now)
    const mark = end - (end % 300)
    const samples = await addMarket(clickhouse, market(end))
    const { body } = await peg(app)
    expect(body.windows_as_of).toBe(iso(mark))
    expect(body.windows).toEqual(expectedWindows(samples, mark))
    expect(body.current?.sampled_at).toBe(
      `${iso(samples.at(-1)?.block_time ?? 0)
        .slice(0, 19)
        .replace('T', ' ')}+00`,
    )
    expect(body).not.toHaveProperty('as_of')
  })

  test('a refresh gives the same digits, and is used until it is two marks old', async ({ app, clickhouse, clock }) => {
    const end = seconds(clock.now) - 900
    const mark = end - (end % 300)
    const samples = await addMarket(clickhouse, market(end))
    await clickhouse.command({ query: 'SYSTEM REFRESH VIEW peg_windows_mv' })
    await clickhouse.command({ query: 'SYSTEM WAIT VIEW peg_windows_mv' })
    const { body } = await peg(app)
    expect(body.windows_as_of).toBe(iso(mark))
    expect(body.windows).toEqual(expectedWindows(samples, mark))

    await clickhouse.command({ query: 'SYSTEM STOP VIEW peg_windows_mv' })
    onTestFinished(() => clickhouse.command({ query: 'SYSTEM START VIEW peg_windows_mv' }).then(() => {}))
    const later = async (at: number) => {
      const more = pegSamples(STABLE, [{ at, price: 995_000 }], at)
      await addFacts(clickhouse, { samples: more })
      await addBlocks(clickhouse, [at], at)
      samples.push(...more)
      return (await peg(app)).body
    }
    expect(await later(mark + 599)).toMatchObject({ windows_as_of: iso(mark), current: { price_vs_refusd: 0.995 } })
    const after = await later(mark + 600)
    expect(after.windows_as_of).toBe(iso(mark + 600))
    expect(after.windows).toEqual(expectedWindows(samples, mark + 600))
  })

  test('the reference stable always has price 1 and no deviation', async ({ app, clickhouse, clock }) => {
    const end = seconds(clock.now)
    const ticks: Tick[] = Array.from({ length: 50 }, (_, i) => ({ at: end - 50 * 60 + i * 60, price: 'anchor' }))
    await addBlocks(
      clickhouse,
      ticks.map(({ at }) => at),
    )
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(0, { stable: REFERENCE_STABLE })],
      samples: pegSamples(REFERENCE_STABLE, ticks),
    })
    const { body } = await peg(app, '', REFERENCE_STABLE)
    expect(body).toMatchObject({ current: { price_vs_refusd: 1, spread_bps: 0 }, coverage: { status: 'complete' } })
    for (const window of body.windows)
      expect(window).toMatchObject({ mean_price: 1, stddev_price: 0, max_deviation_bps: 0, seconds_outside_10bps: 0 })
  })

  test.for(['not_usd', 'no_pair', 'no_liquidity'] as const)(
    'a stable that was never quoted (%s) has no price, empty windows and a reason',
    async (status, { app, clickhouse, clock }) => {
      const end = seconds(clock.now)
      const samples = await addMarket(clickhouse, [
        { at: end - (end % 300) - 60, price: status },
        { at: end - (end % 300), price: status },
      ])
      const { body } = await peg(app)
      expect(body).toMatchObject({ current: null, coverage: { status: 'unavailable' } })
      expect(body.windows).toEqual(expectedWindows(samples, end - (end % 300)))
    },
  )

  test('a stable that has yet to be sampled has three empty windows as of no time', async ({ app, clickhouse }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    const { status, body } = await peg(app)
    expect(status).toBe(200)
    expect(body).toMatchObject({ current: null, windows_as_of: null, coverage: { status: 'unavailable' } })
    expect(body.windows).toEqual(expectedWindows([], 0))
  })
})

test('the address may be in any letter case, and comes back in lower case', async ({ app, clickhouse }) => {
  const mixed = `0x${'aB'.repeat(20)}`
  await addFacts(clickhouse, { stablecoins: [stablecoin(1, { stable: mixed.toLowerCase() })] })
  const { status, body } = await peg(app, '', mixed)
  expect(status).toBe(200)
  expect(body).toMatchObject({ address: mixed.toLowerCase() })
})

test('two hundred concurrent requests are all answered, each about its own instant', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = seconds(clock.now)
  await addMarket(clickhouse, market(end))
  const moments = Array.from({ length: 200 }, (_, i) => end - i * 3)
  const answers = await Promise.all(moments.map((moment) => peg(app, `?as_of=${moment}`)))
  expect(answers.map(({ status, body }) => [status, body.as_of])).toEqual(moments.map((moment) => [200, iso(moment)]))
})
