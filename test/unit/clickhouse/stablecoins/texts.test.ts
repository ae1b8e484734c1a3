import { expect, test } from 'vitest'
import { keptTexts, MOST_CHARACTERS } from '../../../../clickhouse/stablecoins/texts.js'
import { randomFor } from '../../../../local/chain/random.js'

const texts = (changes: Partial<{ symbol: string; name: string; currency: string }> = {}) => ({
  symbol: 'USDX',
  name: 'X Dollar',
  currency: 'USD',
  ...changes,
})

test('texts of ordinary length are kept as they are', () => {
  expect(keptTexts(texts())).toEqual({ ...texts(), truncated: [] })
  const longest = texts({ symbol: 'S'.repeat(64), name: '💵'.repeat(256), currency: 'é'.repeat(64) })
  expect(keptTexts(longest)).toEqual({ ...longest, truncated: [] })
})

test('longer texts are cut, which is said of each', () => {
  const long = 'N'.repeat(10_240)
  expect(keptTexts(texts({ name: long }))).toEqual({ ...texts({ name: 'N'.repeat(256) }), truncated: ['name'] })
  expect(keptTexts({ symbol: long, name: long, currency: long })).toEqual({
    symbol: 'N'.repeat(64),
    name: 'N'.repeat(256),
    currency: 'N'.repeat(64),
    truncated: ['symbol', 'name', 'currency'],
  })
})

test('whatever the text, what is kept is its beginning, has whole characters and at most so many of them', () => {
  const random = randomFor(1, 'texts')
  const pieces = ['a', ' ', 'é', '💵', '\u202e', '\0', '\ufeff', '👩‍👩‍👧']
  for (let i = 0; i < 500; i++) {
    const text = Array.from({ length: random.int(0, 600) }, () => random.pick(pieces)).join('')
    const { name, truncated } = keptTexts(texts({ name: text }))
    expect(name).toBe([...text].slice(0, MOST_CHARACTERS.name).join(''))
    expect(truncated).toEqual(name === text ? [] : ['name'])
  }
})
