import { expect, test } from 'vitest'
import { deedsOf, PATH_USD } from '../../support/t12/economy.js'
import { after, EMPTY_LEDGER } from '../../support/t12/ledger.js'

const QUOTES = new Map([1, 2, 3].map((i) => [`0x20c0${'0'.repeat(20)}${`${i}`.repeat(16)}`, PATH_USD]))

test.each([1, 2, 3, 4, 5])('what actors do never takes what nobody has: seed %i', (seed) => {
  let ledger = EMPTY_LEDGER
  const kinds = new Set<string>()
  for (let block = 1; block <= 400; block++) {
    for (const { actions } of deedsOf(seed, block, ledger, QUOTES)) {
      ledger = { ...actions.reduce(after, ledger), deeds: ledger.deeds + 1 }
      for (const { kind } of actions) kinds.add(kind)
    }
  }
  const held = new Map<string, bigint>()
  for (const [key, balance] of ledger.balances) {
    const [token = ''] = key.split(' ')
    // The fees, which a validator gets a part of, are not among the actions.
    if (!key.endsWith(' 0xfeec000000000000000000000000000000000000')) expect([key, balance >= 0n]).toEqual([key, true])
    held.set(token, (held.get(token) ?? 0n) + balance)
  }
  expect(held).toEqual(ledger.supplies)
  expect(kinds.size).toBe(19)
})
