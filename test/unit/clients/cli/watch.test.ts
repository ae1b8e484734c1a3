import { expect, test } from 'vitest'
import type { Stable } from '../../../../clients/cli/src/stables.js'
import { widthOf } from '../../../../clients/cli/src/text.js'
import { messageLine, screen, take, watchedOf } from '../../../../clients/cli/src/watch.js'
import type { StreamMessage } from '../../../../clients/typescript/src/client.js'

const ADDRESS = `0x20c0${'0'.repeat(35)}1`
const stable = { symbol: 'S\u001b[2J', address: ADDRESS, peg: null, quote: null, open_break: null } as unknown as Stable
const sample = (changes = {}): StreamMessage => ({
  event: 'peg_sample',
  lastEventId: '',
  data: {
    stable: ADDRESS,
    status: 'quoted',
    price_vs_refusd: 0.9985,
    spread_bps: 15,
    buy_price: null,
    mid_price: null,
    block_number: 7,
    sampled_at: '2026-07-01 12:00:00+00',
    ...changes,
  },
})
const started = (severity: 'mild' | 'severe'): StreamMessage =>
  ({
    event: 'peg_break.started',
    lastEventId: '1',
    data: {
      event: 'peg_break.started',
      occurred_at: '2026-07-01T12:05:00Z',
      data: {
        stable: ADDRESS,
        severity,
        direction: 'below',
        started_at: '2026-07-01T12:00:00Z',
        max_deviation_bps: 15,
      },
    },
  }) as unknown as StreamMessage
const ended = (severity: 'mild' | 'severe'): StreamMessage =>
  ({
    event: 'peg_break.ended',
    lastEventId: '2',
    data: {
      event: 'peg_break.ended',
      occurred_at: '2026-07-01T12:10:00Z',
      data: {
        stable: ADDRESS,
        severity,
        started_at: '2026-07-01T12:00:00Z',
        duration_seconds: 600,
        max_deviation_bps: 20,
      },
    },
  }) as unknown as StreamMessage

test('the screen has the newest sample, the worst open break and the newest events, and fits', () => {
  const watched = watchedOf([stable])
  const shown = () => screen(watched, { columns: 200, rows: 20 }).join('\n')
  expect(shown()).toContain('S\\u{1b}[2J')
  take(watched, sample())
  expect(shown()).toMatch(/0\.998500 +-15\.00 +- +7 +2026-07-01T12:00:00Z +quoted/)
  take(watched, started('severe'))
  take(watched, started('mild'))
  expect(shown()).toContain('severe since 2026-07-01T12:00:00Z')
  take(watched, ended('mild'))
  expect(shown()).toContain('severe since')
  take(watched, ended('severe'))
  expect(shown()).not.toContain('severe since')
  expect(shown()).toContain('severe break ended after 10m, at most 20.00 bps')
  take(watched, sample({ stable: '0xnew' }))
  const small = screen(watched, { columns: 30, rows: 6 })
  expect(small.length).toBeLessThanOrEqual(5)
  for (const line of small) expect(widthOf(line)).toBeLessThanOrEqual(30)
})

test('without a terminal a message is a line, without a price it has none', () => {
  const watched = watchedOf([stable])
  expect(messageLine(watched, sample({ status: 'no_liquidity', price_vs_refusd: null, spread_bps: null }))).toBe(
    `2026-07-01T12:00:00Z  S\\u{1b}[2J ${ADDRESS}  -  - bps  block 7  no_liquidity`,
  )
  expect(messageLine(watched, started('mild'))).toBe(
    `2026-07-01T12:05:00Z  S\\u{1b}[2J ${ADDRESS}  mild break below since 2026-07-01T12:00:00Z, 15.00 bps so far`,
  )
  expect(messageLine(watched, { event: 'ready', data: { sequence: 1 }, lastEventId: '' })).toBeNull()
})
