import { expect, test } from 'vitest'
import { listPeriods, type TokenListRow } from '../../../../clickhouse/chain/token-lists.js'
import { MOST_HOPS } from '../../../../clickhouse/exchange/routes.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { createRegistry } from '../../../../ingest/knowledge/registry.js'

const list = (
  sequence_number: number,
  from_block: number,
  track: 'all' | 'listed' | 'paired',
  ...stables: string[]
): TokenListRow => ({
  sequence_number,
  from_block,
  holds_from: from_block * 10,
  track,
  stables,
})
const ALL = listPeriods([list(1, 0, 'all')])

const stable = (address: string, quote_token: string, block_number: number) => ({
  stable: address,
  symbol: '',
  name: '',
  currency: 'USD',
  truncated: [],
  quote_token,
  admin: '',
  block_number,
  log_index: 0,
  block_time: 0,
  tx_hash: '',
})
/** Stables 1 to 12, of which each is quoted in the one before and created in the block of its number. */
const deepChain = () =>
  Array.from({ length: 12 }, (_, i) => stable(`0x${i + 1}`, i === 0 ? REFERENCE_STABLE : `0x${i}`, i + 1))

test('a stable with more than eight books between it and the reference stable is too deep', () => {
  const registry = createRegistry(deepChain(), ALL, [])
  expect(MOST_HOPS).toBe(8)
  expect([...registry.tooDeepAt(12)]).toEqual(['0x9', '0x10', '0x11', '0x12'])
  expect([...registry.tooDeepAt(9)]).toEqual(['0x9'])
  expect([...registry.tooDeepAt(8)]).toEqual([])
})

test('from the block on in which a quote token changes, all stables that depend on it are nearer', () => {
  const registry = createRegistry(deepChain(), ALL, [])
  registry.setQuoteToken('0x9', REFERENCE_STABLE, 20)
  expect([...registry.tooDeepAt(19)]).toEqual(['0x9', '0x10', '0x11', '0x12'])
  expect([...registry.tooDeepAt(20)]).toEqual([])
})

test('old blocks have the quote tokens of their time, whatever came later', () => {
  const changed = deepChain().map((one) => (one.stable === '0x9' ? { ...one, quote_token: REFERENCE_STABLE } : one))
  const history = [...deepChain(), { stable: '0x9', quote_token: REFERENCE_STABLE, block_number: 20 }]
  const registry = createRegistry(changed, ALL, [], history)
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
  const registry = createRegistry(deepChain(), ALL, [])
  const before = registry.tooDeepAt(12)
  registry.setQuoteToken('0x3', REFERENCE_STABLE, 13)
  registry.setQuoteToken('0x3', '0x2', 14)
  expect(registry.tooDeepAt(14)).toBe(before)
  registry.add(stable('0xe', REFERENCE_STABLE, 15))
  expect(registry.tooDeepAt(15)).toBe(before)
})

test('a block is sampled with the list of its time: who is listed later from then on, who is removed until then', () => {
  const periods = listPeriods([
    list(1, 0, 'listed', '0xa'),
    list(2, 10, 'listed', '0xa', '0xb'),
    list(3, 20, 'all', '0xb'),
  ])
  const stables = ['0xa', '0xb', '0xc'].map((address, i) => stable(address, REFERENCE_STABLE, i))
  const registry = createRegistry(stables, periods, [])
  const at = (block: number) =>
    registry.sampledAt(block).map(({ stable, tier, sampled_from }) => [stable, tier, sampled_from])
  expect(at(9)).toEqual([['0xa', 'listed', 0]])
  expect(at(10)).toEqual([
    ['0xa', 'listed', 0],
    ['0xb', 'listed', 10],
  ])
  expect(at(20)).toEqual([
    ['0xa', 'unlisted', 0],
    ['0xb', 'listed', 10],
    ['0xc', 'unlisted', 20],
  ])
  expect(registry.sampledAt(9)).toBe(registry.sampledAt(5))
})

test('a stable that is listed before it is created is sampled from its creation on', () => {
  const registry = createRegistry([], listPeriods([list(1, 0, 'listed', '0xa')]), [])
  expect(registry.sampledAt(5)).toEqual([])
  registry.add(stable('0xb', REFERENCE_STABLE, 6))
  registry.add(stable('0xa', REFERENCE_STABLE, 7))
  expect(registry.sampledAt(6)).toEqual([])
  expect(registry.sampledAt(7)).toMatchObject([{ stable: '0xa', sampled_from: 7 }])
})

test('where stables with a book are sampled, the stables of a block are the same whether its books were known or came with it', () => {
  const periods = listPeriods([list(1, 0, 'paired', '0xb'), list(2, 30, 'all'), list(3, 40, 'paired')])
  const stables = ['0xa', '0xb', '0xc'].map((address, i) => stable(address, REFERENCE_STABLE, i))
  const books = [
    { stable: '0xc', block_number: 10, block_time: 100 },
    { stable: '0xa', block_number: 20, block_time: 200 },
  ]
  const before = createRegistry(stables, periods, books)
  const following = createRegistry(stables, periods, [])
  const at = (registry: typeof before, block: number) =>
    registry.sampledAt(block).map(({ stable, sampled_from }) => [stable, sampled_from])
  const seen = Array.from({ length: 50 }, (_, block) => {
    for (const book of books.filter(({ block_number }) => block_number === block)) following.openBook(book)
    return at(following, block)
  })
  expect(seen).toEqual(seen.map((_, block) => at(before, block)))
  expect(seen[9]).toEqual([['0xb', 1]])
  // In order of creation, whatever the order of the books.
  expect(seen[29]).toEqual([
    ['0xa', 20],
    ['0xb', 1],
    ['0xc', 10],
  ])
  expect(seen[45]).toEqual([
    ['0xa', 20],
    ['0xc', 10],
  ])
})
