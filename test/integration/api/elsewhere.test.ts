import { expect } from 'vitest'
import type { DepthSample } from '../../../clickhouse/depth/depth.js'
import { test } from '../../support/app.js'
import { eventsOf, PEG_EVENTS_JOB } from '../../support/peg-events.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../support/rows.js'
import { runPass, slotsOf } from '../../support/slots.js'
import { addMarket } from '../../support/wild-market.js'
import { childrenOf, parsedXml, textOf, textsOf } from '../../support/xml.js'

const HOSTILE = '<script>alert(1)</script>\u202e]]>&'

test('a badge has the price now, also as data for shields.io, whatever a token is called', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBlocks(clickhouse, [now - 60, now])
  const of = (i: number, price: number | 'no_liquidity') =>
    pegSamples(stableAddress(i), [
      { at: now - 60, price: 1_000_000 },
      { at: now, price },
    ])
  await addFacts(clickhouse, {
    stablecoins: [
      stablecoin(1, { symbol: 'AlphaUSD' }),
      stablecoin(2, { symbol: HOSTILE }),
      stablecoin(3, { symbol: '\u200b' }),
      stablecoin(4),
    ],
    samples: [...of(1, 1_000_120), ...of(2, 994_000), ...of(3, 'no_liquidity')],
  })
  const badge = async (i: number) => {
    const svg = await app.inject(`/badge/${stableAddress(i)}.svg`)
    expect([svg.statusCode, svg.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8'])
    const data = (await app.inject(`/badge/${stableAddress(i).toUpperCase().replace('0X', '0x')}.json`)).json()
    expect(data).toMatchObject({ schemaVersion: 1 })
    expect(textsOf(parsedXml(svg.body))).toEqual(expect.arrayContaining([data.label, data.message]))
    return [data.label, data.message, data.color]
  }
  expect(await badge(1)).toEqual(['AlphaUSD', '+1.2 bps', '#0072b2'])
  expect(await badge(2)).toEqual(['<script>alert(1)</s\u2026', '\u221260 bps', '#d55e00'])
  expect(await badge(3)).toEqual([`${stableAddress(3).slice(0, 10)}\u2026`, 'no quote', '#767676'])
  // It was never sampled: no price is not a price of 1.
  expect((await badge(4))[1]).toBe('no quote')
  expect((await app.inject(`/badge/${stableAddress(9)}.svg`)).statusCode).toBe(404)
  for (const bad of ['x.svg', `${stableAddress(1)}.png`, `${stableAddress(1)}.svg?a=1`])
    expect((await app.inject(`/badge/${bad}`)).statusCode, bad).toBe(400)
})

test('the feed has one entry for each announced peg break, which is updated when the break ends or is taken back', async ({
  app,
  clickhouse,
  clock,
}) => {
  const stable = stableAddress(1)
  const start = Math.floor(clock.now.getTime() / 120_000) * 120 - 7200
  // A mild break around a severe one, then calm, then another that ends after eight minutes.
  const bps = [0, -20, -60, -70.5, -20, -20, -5, ...Array(40).fill(3), 51, 51.25, 55, 80, 80, 80, 80, 80, 0, 0, 0, 0]
  const times = bps.map((_, i) => start + i * 60)
  const ticks = bps.map((value, i) => ({ at: times[i] as number, price: 1_000_000 + value * 100 }))
  // Nobody but the bidder for one token was away from the peg in the first one.
  const depths = [1000, 10_000].map((size_tokens): DepthSample => {
    const place = { stable, size_tokens, block_number: 4, block_time: times[3] as number }
    const sold = { sell_status: 'quoted', sell_raw: `${size_tokens}000000` } as const
    return { ...place, ...sold, buy_status: 'no_liquidity', buy_raw: null }
  })
  await addMarket(clickhouse, pegSamples(stable, ticks), times, 1, depths)
  const slots = slotsOf(PEG_EVENTS_JOB, start, start + 3600)
  const feed = async () => {
    const response = await app.inject({
      url: '/breaks.atom',
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    })
    expect([response.statusCode, response.headers['content-type']]).toEqual([
      200,
      'application/atom+xml; charset=utf-8',
    ])
    const xml = parsedXml(response.body)
    const entries = childrenOf(xml, 'entry').map((entry) => ({
      id: textOf(entry, 'id'),
      title: textOf(entry, 'title'),
      published: Date.parse(textOf(entry, 'published')) / 1000,
      updated: Date.parse(textOf(entry, 'updated')) / 1000,
      link: childrenOf(entry, 'link')[0]?.attributes.href,
      summary: textOf(entry, 'summary'),
    }))
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
    return { updated: Date.parse(textOf(xml, 'updated')) / 1000, entries }
  }
  expect((await feed()).entries).toEqual([])

  // At the 54th minute the last is under way, on both tracks.
  await runPass(clickhouse, PEG_EVENTS_JOB, slots.slice(0, 27))
  const before = await feed()
  const ongoing = before.entries.find(({ title }) => title.includes('mild') && title.includes('ongoing'))
  expect(ongoing).toMatchObject({ published: start + 47 * 60 })
  expect(ongoing?.link).toMatch(new RegExp(`^http://localhost/s/${stable}\\?as_of=`))

  await runPass(clickhouse, PEG_EVENTS_JOB, slots.slice(27))
  const after = await feed()
  const events = await eventsOf(app, stable)
  expect(after.entries).toHaveLength(events.length)
  expect(events.length).toBeGreaterThanOrEqual(3)
  const ended = after.entries.find(({ id }) => id === ongoing?.id)
  expect(ended).toMatchObject({
    title: expect.stringContaining('ended after 8 min'),
    published: start + 47 * 60,
    summary: expect.stringContaining('80 bps'),
  })
  const thin = after.entries.filter(({ summary }) => summary.includes('which 10,000 tokens contradict'))
  expect(thin.map(({ published }) => published)).toEqual(expect.arrayContaining([start + 60, start + 120]))
  expect(thin).toHaveLength(2)
  expect(ended?.updated).toBeGreaterThan(ongoing?.updated as number)
  expect(after.updated).toBe(Math.max(...after.entries.map(({ updated }) => updated)))

  // A backfill finds that the price was never away from then on: the entry stays and says so.
  await clickhouse.command({
    query: `ALTER TABLE peg_samples UPDATE sell_micros = 1000000 WHERE block_time >= ${times[47]}`,
    clickhouse_settings: { mutations_sync: '2' },
  })
  await runPass(clickhouse, PEG_EVENTS_JOB, slotsOf(PEG_EVENTS_JOB, start, start + 3600, 1))
  const withdrawn = (await feed()).entries
  expect(withdrawn).toHaveLength(after.entries.length)
  expect(withdrawn.find(({ id }) => id === ongoing?.id)).toMatchObject({
    title: expect.stringMatching(/mild peg break, withdrawn$/),
    updated: expect.toSatisfy((updated: number) => updated > (ended?.updated as number)),
  })
  expect(withdrawn.filter(({ title }) => !title.includes('withdrawn'))).toHaveLength(
    (await eventsOf(app, stable)).length,
  )
})

test('the status has the shape that status tools read, and says when data is old', async ({
  app,
  clickhouse,
  clock,
}) => {
  const status = async () => (await app.inject('/api/v2/status.json')).json()
  expect(await status()).toMatchObject({ page: { name: 'Plumbline' }, status: { indicator: 'critical' } })
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBlocks(clickhouse, [now - 400])
  // It is read again after some seconds.
  clock.now = new Date((now + 10) * 1000)
  const description = expect.stringContaining('410 seconds old')
  expect((await status()).status).toEqual({ indicator: 'major', description })
})
