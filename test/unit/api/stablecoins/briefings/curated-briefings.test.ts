import { expect, test } from 'vitest'
import written from '../../../../../api/stablecoins/briefings/4217.json' with { type: 'json' }
import { curatedBriefings } from '../../../../../api/stablecoins/briefings/briefings.js'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import publicList from '../../../../../ingest/token-list/4217.json' with { type: 'json' }

const [good] = written

test('every briefing is about a stable of the public token list, with its symbol, and is found by address', () => {
  const briefings = curatedBriefings()
  const listed = new Map(publicList.tokens.map(({ address, symbol }) => [address, symbol]))
  for (const { address, symbol } of written) {
    expect(listed.get(address)).toBe(symbol)
    expect(briefings.of(4217, address)?.symbol).toBe(symbol)
  }
  expect(written.map(({ address }) => address)).toContain(REFERENCE_STABLE)
  expect(briefings.of(31_337, REFERENCE_STABLE)).toBeNull()
  expect(briefings.of(4217, `0x${'9'.repeat(40)}`)).toBeNull()
})

test.for([
  ['without a source', [{ ...good, sources: [] }]],
  ['with a source that is no https address', [{ ...good, sources: [{ title: 'somewhere', url: 'http://a.example' }] }]],
  ['with an address that would never be found', [{ ...good, address: '0xABCD' }]],
  ['with a backing that is none of the labels', [{ ...good, backing: 'trust' }]],
  ['with a field that nobody reads', [{ ...good, rating: 'low' }]],
  ['twice on one stable', [good, good]],
])('a file of briefings %s fails the start', ([, content]) => {
  expect(() => curatedBriefings([[4217, content]])).toThrow(/^the briefings of chain 4217: /)
})
