import { expect, test } from 'vitest'
import { aged, publishedQuote } from '../../../../api/stablecoins/quote.js'
import type { Coverage } from '../../../../clickhouse/chain/coverage.js'
import type { CurrentPeg } from '../../../../clickhouse/peg/current.js'

const block_time = new Date('2026-07-01T12:00:00Z')
const sample = { block_number: 7, block_time, status: 'quoted', sell_micros: 999_000, buy_micros: 1_001_000 } as const
const QUOTED: CurrentPeg = { newest: sample, priced: sample, lost: null, unsampled: null }
const COMPLETE = {
  status: 'complete',
  message: '',
  measured_from: null,
  measured_to: null,
  missing: [],
  missing_count: 0,
} as unknown as Coverage

const quoteAt = (seconds: number) => publishedQuote(QUOTED, new Date(block_time.getTime() + seconds * 1000), COMPLETE)

test('a sample says whether a stable can be sold for two minutes; after that nobody knows, and the answer says so', () => {
  expect(quoteAt(120)).toMatchObject({ current: { quoted: true, price_age_seconds: 120 }, quote: { quoted: true } })
  expect(quoteAt(120).coverage.status).toBe('complete')
  expect(quoteAt(947)).toMatchObject({
    current: { price_vs_refusd: 0.999, quoted: null, price_age_seconds: 947 },
    quote: { quoted: null, unquoted_since: null },
    coverage: { status: 'partial', message: expect.stringContaining('2026-07-01T12:00:00Z') },
  })
})

test('an answer that is served later has older prices, and after two minutes no quote that is known', () => {
  const answer = { address: '0x', ...quoteAt(10), windows: [{ quoted: 1 }] }
  expect(aged(answer, 60)).toEqual({
    ...answer,
    current: { ...answer.current, price_age_seconds: 70 },
  })
  // The sample is 130 s old by then, although the answer is not.
  expect(aged(answer, 120)).toMatchObject({
    current: { price_age_seconds: 130, quoted: null },
    quote: { quoted: null },
    coverage: { status: 'partial', message: expect.stringContaining('2026-07-01T12:00:00Z') },
  })
  const list = {
    as_of: null,
    stablecoins: [
      { peg: answer.current, quote: answer.quote },
      { peg: null, quote: null },
    ],
  }
  expect(aged(list, 300)).toEqual({
    as_of: null,
    stablecoins: [
      { peg: { ...answer.current, price_age_seconds: 310, quoted: null }, quote: { ...answer.quote, quoted: null } },
      { peg: null, quote: null },
    ],
  })
})
