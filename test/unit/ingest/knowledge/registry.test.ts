import { expect, test } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { createRegistry, MOST_HOPS } from '../../../../ingest/knowledge/registry.js'

const stable = (address: string, quote_token: string, block_number: number) => ({
  stable: address,
  symbol: '',
  name: '',
  currency: 'USD',
  quote_token,
  admin: '',
  tier: 'listed' as const,
  block_number,
  log_index: 0,
  block_time: 0,
  tx_hash: '',
})
/** Stables 1 to 12, of which each is quoted in the one before and created in the block of its number. */
const deepChain = () =>
  Array.from({ length: 12 }, (_, i) => stable(`0x${i + 1}`, i === 0 ? REFERENCE_STABLE : `0x${i}`, i + 1))

test('a stable with more than eight books between it and the reference stable is too deep', () => {
  const registry = createRegistry(deepChain(), 'all')
  expect(MOST_HOPS).toBe(8)
  expect([...registry.tooDeepAt(12)]).toEqual(['0x9', '0x10', '0x11', '0x12'])
  expect([...registry.tooDeepAt(9)]).toEqual(['0x9'])
  expect([...registry.tooDeepAt(8)]).toEqual([])
})

test('from the block on in which a quote token changes, all stables that depend on it are nearer', () => {
  const registry = createRegistry(deepChain(), 'all')
  registry.setQuoteToken('0x9', REFERENCE_STABLE, 20)
  expect([...registry.tooDeepAt(19)]).toEqual(['0x9', '0x10', '0x11', '0x12'])
  expect([...registry.tooDeepAt(20)]).toEqual([])
})

test('old blocks have the quote tokens of their time, whatever came later', () => {
  const changed = deepChain().map((one) => (one.stable === '0x9' ? { ...one, quote_token: REFERENCE_STABLE } : one))
  const history = [...deepChain(), { stable: '0x9', quote_token: REFERENCE_STABLE, block_number: 20 }]
  const registry = createRegistry(changed, 'all', history)
  for (const [block, deep] of [
    [20, 0],
    [12, 4],
    [30, 0],
    [10, 2],
  ] as const) {
    expect(registry.tooDeepAt(block).size, `block ${block}`).toBe(deep)
  }
})

test('the set stays the same one while its members do, because requests are cached by it', () => {
  const registry = createRegistry(deepChain(), 'all')
  const before = registry.tooDeepAt(12)
  registry.setQuoteToken('0x3', REFERENCE_STABLE, 13)
  registry.setQuoteToken('0x3', '0x2', 14)
  expect(registry.tooDeepAt(14)).toBe(before)
  registry.add(stable('0xe', REFERENCE_STABLE, 15))
  expect(registry.tooDeepAt(15)).toBe(before)
})
