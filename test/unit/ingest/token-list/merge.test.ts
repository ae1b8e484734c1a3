import { expect, test } from 'vitest'
import { mergeLists } from '../../../../ingest/token-list/merge.js'
import { listEntry, publicList } from '../../../support/token-list.js'

const readAt = (day: string, symbols: readonly string[]) => ({
  list: {
    ...publicList,
    tokens: symbols.map((symbol, i) => ({ ...listEntry, symbol, address: `0x${String(i).padStart(40, '0')}` })),
  },
  source: day,
  current_at: new Date(day),
})

test('a list made of several has each token of the chain once, and is as old as the oldest of them', () => {
  const list = mergeLists(4217, 'Ours', [readAt('2026-11-15', ['B']), readAt('2026-09-21', ['X', 'A'])])
  expect(list).toMatchObject({
    timestamp: '2026-09-21T00:00:00.000Z',
    version: { major: 2026, minor: 9, patch: 21 },
    sources: ['2026-11-15', '2026-09-21'],
  })
  expect(list.tokens.map(({ symbol }) => symbol)).toEqual(['A', 'B'])
  expect(mergeLists(42431, 'Ours', [readAt('2026-11-15', ['A'])]).tokens).toEqual([])
})
