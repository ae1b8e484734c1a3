import { expect, test } from 'vitest'
import { breaksFrom, neighbour, openAt, withOpen } from '../../../dashboard/board/breaks.js'
import { seriesCsv } from '../../../dashboard/board/csv.js'
import { isDrawn, isFound, ordered } from '../../../dashboard/board/order.js'
import { farthestOf, type Lane, type Picture, pictureOf, standingAt } from '../../../dashboard/board/picture.js'
import type { SeriesAnswer } from '../../../dashboard/board/series.js'
import { spanOf } from '../../../dashboard/board/series.js'
import { type ListedStable, standingOf, summaryOf } from '../../../dashboard/board/stables.js'
import { labelsOf } from '../../../dashboard/parts/names.js'

const FROM = Date.UTC(2026, 6, 1) / 1000
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

const stable = (i: number, changes: Partial<ListedStable> & { price?: number | null } = {}): ListedStable => {
  const { price = 1, ...others } = changes
  return {
    address: `0x${String(i).padStart(40, '0')}`,
    symbol: `S${i}`,
    name: `Stable ${i}`,
    peg: price === null ? null : { price, mid_price: null, quoted: true, sampled_at: '2026-07-01 00:00:00+00' },
    quote: { quoted: price !== null, unquoted_since: null },
    tracked: true,
    max_deviation_24h_bps: null,
    supply: { current: `${i}000000`, cap: null },
    coverage: { status: 'complete', message: 'Quoted on the DEX.' },
    risk_score: i,
    open_break: null,
    ...others,
  }
}

const series = (address: string, values: readonly (number | null | undefined)[], from = FROM): SeriesAnswer => {
  const column = values.map((value) => value ?? null)
  return {
    from: iso(from),
    to: iso(from + 300 * values.length),
    step_seconds: 300,
    bucket_count: values.length,
    coverage: { status: 'complete', message: '' },
    stables: [
      {
        address,
        symbol: '',
        low_bps: column,
        high_bps: column,
        last_bps: column,
        unquoted_share: values.map((value) => (value === undefined ? null : value === null ? 1 : 0)),
      },
    ],
  }
}

function picture(stables: ListedStable[], answer: SeriesAnswer | null, changes: object = {}): Picture {
  return pictureOf({
    stables,
    labels: labelsOf(stables),
    series: answer,
    live: new Map(),
    breaks: [],
    pins: [],
    span: { from: FROM, to: FROM + 1500, step: 300 },
    end: FROM + 1600,
    ...changes,
  })
}

test('a stable stands where its bucket says: quoted, without a quote, or not measured, and never in between', () => {
  const shown = picture([stable(1, { price: 1.0007 })], series(stable(1).address, [1, null, undefined, -20, 3]))
  const [lane] = shown.lanes
  if (!lane) throw new Error('there is a lane')
  const at = (seconds: number) => standingAt(shown, lane, FROM + seconds)
  // A bucket does not have its first instant, but its last.
  expect([1, 300, 301, 600, 601, 900, 901, 1200, 1500].map(at)).toEqual([
    { is: 'quoted', bps: 1 },
    { is: 'quoted', bps: 1 },
    { is: 'unquoted' },
    { is: 'unquoted' },
    { is: 'unmeasured' },
    { is: 'unmeasured' },
    { is: 'quoted', bps: -20 },
    { is: 'quoted', bps: -20 },
    { is: 'quoted', bps: 3 },
  ])
  expect(at(1501)).toEqual({ is: 'quoted', bps: 7 })
})

test('where the chain begins within the window, the time before it is not measured', () => {
  const shown = picture([stable(1)], series(stable(1).address, [5, 6], FROM + 900))
  expect([shown.from, shown.to, shown.count, shown.offset]).toEqual([FROM, FROM + 1500, 5, 3])
  const [lane] = shown.lanes
  if (!lane) throw new Error('there is a lane')
  expect([100, 900, 1000, 1500].map((seconds) => standingAt(shown, lane, FROM + seconds))).toEqual([
    { is: 'unmeasured' },
    { is: 'unmeasured' },
    { is: 'quoted', bps: 5 },
    { is: 'quoted', bps: 6 },
  ])
})

test('while the past is still being read, the end of the window is not measured; a bucket that is late is not missing', () => {
  const ends = (length: number) => {
    const values = Array.from({ length }, () => 1)
    const shown = picture([stable(1)], series(stable(1).address, values), {
      span: { from: FROM, to: FROM + 6000, step: 300 },
      end: FROM + 6000,
    })
    return [shown.to - FROM, standingAt(shown, shown.lanes[0] as Lane, FROM + 5900).is]
  }
  expect([20, 18, 17, 3].map(ends)).toEqual([
    [6000, 'quoted'],
    [5400, 'quoted'],
    [6000, 'unmeasured'],
    [6000, 'unmeasured'],
  ])
})

test('the farthest of a picture is that of its buckets and of its end, on the side where it was', () => {
  const farthest = (price: number | null, values: readonly (number | null)[]) =>
    farthestOf(picture([stable(1, { price })], series(stable(1).address, values)).lanes[0] as Lane)
  expect(farthest(1, [3, -20, null, 12])).toBe(-20)
  expect(farthest(1.005, [3, -20, null, 12])).toBe(50)
  expect(farthest(null, [null, 0])).toBe(0)
  expect(farthest(null, [null, null])).toBe(null)
})

test('the newest of list and stream counts', () => {
  const one = stable(1, { price: 1.001 })
  const live = (at: number, price_vs_refusd: number | null, mid_price: number | null = null) =>
    picture([one], null, { live: new Map([[one.address, { at, price_vs_refusd, mid_price, status: '' }]]) }).lanes[0]
      ?.now
  expect(live(FROM - 60, 0.9)).toEqual({ is: 'quoted', bps: 10 })
  expect(live(FROM + 60, 0.9985)).toEqual({ is: 'quoted', bps: -15 })
  expect(live(FROM + 60, null)).toEqual({ is: 'unquoted' })
  // Half of what lies between bid and ask is not a deviation.
  expect(live(FROM + 60, 0.9985, 1)).toEqual({ is: 'quoted', bps: 0 })
  expect(standingOf({ peg: { price: 0.9992, mid_price: 1, quoted: true, sampled_at: '' }, quote: one.quote })).toEqual({
    is: 'quoted',
    bps: 0,
  })
})

test('stables are ordered by what is chosen, pinned ones first, and unknown values last', () => {
  const stables = [
    stable(1, { symbol: 'C', price: 0.999, risk_score: null }),
    stable(2, { symbol: 'a', price: 1.0005, supply: null }),
    stable(3, { symbol: 'B', price: null }),
    stable(4, { symbol: 'B', price: 1, quote: null }),
  ]
  const order = (sort: 'symbol' | 'deviation' | 'risk' | 'supply', pins: string[] = []) =>
    ordered(stables, { sort, pins, labels: labelsOf(stables) }).map(({ address }) => Number(address))
  expect(order('symbol')).toEqual([2, 3, 4, 1])
  // Without a quote is further than any price; not measured is not known to be far.
  expect(order('deviation')).toEqual([3, 1, 2, 4])
  expect(order('risk')).toEqual([4, 3, 2, 1])
  expect(order('supply')).toEqual([4, 3, 1, 2])
  expect(order('symbol', [stable(1).address, stable(4).address])).toEqual([1, 4, 2, 3])
})

test('a stable is found by symbol, name or the beginning of its address', () => {
  const one = stable(7, { symbol: 'DF\u200bUSD', name: 'Drift Dollar' })
  for (const text of ['dfusd', 'DRIFT', ' dollar ', '', '0x0000'])
    expect([text, isFound(one, text)]).toEqual([text, true])
  for (const text of ['usdx', '0x1', '7']) expect([text, isFound(one, text)]).toEqual([text, false])
})

test('stables that are not sampled are drawn only if somebody wants them', () => {
  const place = { shape: null, search: '', pins: [] }
  const [sampled, other] = [stable(1, { tracked: true }), stable(2, { tracked: false })]
  expect([isDrawn(sampled, place), isDrawn(other, place)]).toEqual([true, false])
  for (const wanted of [{ shape: 'table' as const }, { search: 's2' }, { pins: [other.address] }])
    expect(isDrawn(other, { ...place, ...wanted })).toBe(true)
})

test('breaks are those that were announced and not taken back, in the order of their starts', () => {
  const data = (stable: string, minutes: number) => ({
    stable,
    severity: 'mild' as const,
    started_at: iso(FROM + 60 * minutes),
    max_deviation_bps: 20,
  })
  const breaks = breaksFrom([
    { event: 'peg_break.started', data: data('b', 9) },
    { event: 'peg_break.started', data: data('a', 5) },
    { event: 'peg_break.ended', data: { ...data('a', 5), ended_at: iso(FROM + 900), max_deviation_bps: 31 } },
    { event: 'peg_break.started', data: data('c', 1) },
    { event: 'event.retracted', data: { original: data('c', 1) } },
    { event: 'flow_anomaly.detected', data: {} },
  ])
  expect(breaks).toEqual([
    { stable: 'a', severity: 'mild', startedAt: FROM + 300, endedAt: FROM + 900, maxDeviationBps: 31 },
    { stable: 'b', severity: 'mild', startedAt: FROM + 540, endedAt: null, maxDeviationBps: 20 },
  ])
  const [first, second] = breaks
  expect(neighbour(breaks, null, 1)).toBe(first)
  expect(neighbour(breaks, null, -1)).toBe(second)
  expect(neighbour(breaks, first ?? null, 1)).toBe(second)
  expect(neighbour(breaks, second ?? null, 1)).toBe(null)
})

test('a break that began before the oldest event is in the list, and an event knows more than the list', () => {
  const [long, announced, over, none] = [1, 2, 3, 4].map((i) => stable(i)) as [
    ListedStable,
    ListedStable,
    ListedStable,
    ListedStable,
  ]
  const open = (severity: 'mild' | 'severe', minutes: number) => ({
    open_break: { severity, started_at: iso(FROM + 60 * minutes), started_block: 1 },
  })
  const at = (address: string, minutes: number, endedAt: number | null) => ({
    stable: address,
    severity: 'mild' as const,
    startedAt: FROM + 60 * minutes,
    endedAt,
    maxDeviationBps: 20,
  })
  const events = [at(announced.address, 1, null), at(over.address, 2, FROM + 300)]
  const breaks = withOpen(events, [
    { ...long, ...open('severe', -600) },
    { ...announced, ...open('mild', 1) },
    { ...over, ...open('mild', 2) },
    none,
  ])
  const unannounced = {
    stable: long.address,
    severity: 'severe' as const,
    startedAt: FROM - 36_000,
    endedAt: null,
    maxDeviationBps: null,
  }
  expect(breaks).toEqual([unannounced, ...events])
  expect(openAt([at('a', 1, null), { ...unannounced, stable: 'a' }], FROM + 60)).toMatchObject({ severity: 'severe' })
  expect(openAt(events.slice(1), FROM + 299)).toBe(events[1])
  expect(openAt(events.slice(1), FROM + 300)).toBe(null)
})

test('a window is whole buckets, the last of which has ended', () => {
  expect(spanOf('24h', FROM + 86_400 + 299)).toEqual({ from: FROM, to: FROM + 86_400 })
  expect(spanOf('1h', FROM + 3660)).toEqual({ from: FROM + 60, to: FROM + 3660 })
})

test('the summary counts every stable once', () => {
  expect(
    summaryOf([
      { name: 'A', standing: { is: 'quoted', bps: 10 } },
      { name: 'B', standing: { is: 'quoted', bps: -10.01 } },
      { name: 'C', standing: { is: 'quoted', bps: 51 } },
      ...['D', 'E', 'F', 'G'].map((name) => ({ name, standing: { is: 'unquoted' } as const })),
      { name: 'H', standing: { is: 'unmeasured' } },
    ]),
  ).toBe(
    '1 of 8 within 10 bps of the peg; 1 outside by more than 50 bps (C); 1 outside by 10 to 50 bps (B); 4 without a quote; 1 not measured (H).',
  )
})

test('the file of a picture has empty cells where nothing was quoted, and no formula', () => {
  const one = stable(1, { symbol: '=HYPERLINK("x")' })
  const drawn = picture([one], series(one.address, [1.5, null, undefined, -20, 3]))
  const stables = drawn.lanes.map(({ stable, series }) => ({ ...stable, series }))
  const lines = seriesCsv(drawn, stables).split('\r\n')
  expect(lines.slice(0, 4)).toEqual([
    'address,symbol,from,to,low_bps,high_bps,last_bps,unquoted_share',
    `${one.address},"'=HYPERLINK(""x"")",2026-07-01T00:00:00Z,2026-07-01T00:05:00Z,1.5,1.5,1.5,0`,
    `${one.address},"'=HYPERLINK(""x"")",2026-07-01T00:05:00Z,2026-07-01T00:10:00Z,,,,1`,
    `${one.address},"'=HYPERLINK(""x"")",2026-07-01T00:10:00Z,2026-07-01T00:15:00Z,,,,`,
  ])
})
