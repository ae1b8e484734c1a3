import { toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { expect, test } from 'vitest'
import { decodeLog } from '../../../../ingest/chain/events.js'
import type { RawLog } from '../../../../ingest/chain/rpc-answers.js'
import { quoteChanges } from '../../../../ingest/stages/quote-changes.js'
import { encodedLog } from '../../../support/logs.js'

const DEX = '0xdec0000000000000000000000000000000000000'
const TOKEN = '0x20c00000000000000000000000000000000000aa'
const OTHER = '0x20c00000000000000000000000000000000000bb'
const SOMEBODY = '0x00000000000000000000000000000000000000a1'
const orderOf = { maker: SOMEBODY, token: TOKEN, amount: 10n ** 9n, isBid: true, tick: 10, flipTick: 20 }

const changesOf = (...logs: RawLog[]) =>
  quoteChanges(
    logs,
    logs.map(decodeLog).filter((event) => event !== null),
    (orderId) => (orderId === 7n ? OTHER : undefined),
  )

test.for<[string, RawLog, string[] | 'all']>([
  [
    'a new pair',
    encodedLog('stablecoinDex', 'PairCreated', DEX, { key: `0x${'1'.repeat(64)}`, base: TOKEN, quote: OTHER }),
    [TOKEN],
  ],
  [
    'an order',
    encodedLog('stablecoinDex', 'OrderPlaced', DEX, { orderId: 1n, isFlipOrder: false, ...orderOf }),
    [TOKEN],
  ],
  ['a flipped order', encodedLog('stablecoinDex', 'OrderFlipped', DEX, { orderId: 1n, ...orderOf }), [TOKEN]],
  [
    'a fill',
    encodedLog('stablecoinDex', 'OrderFilled', DEX, {
      orderId: 7n,
      maker: SOMEBODY,
      taker: SOMEBODY,
      amountFilled: 1n,
      partialFill: true,
    }),
    [OTHER],
  ],
  ['a cancelled order', encodedLog('stablecoinDex', 'OrderCancelled', DEX, { orderId: 7n }), [OTHER]],
  ['a cancelled order that is not known', encodedLog('stablecoinDex', 'OrderCancelled', DEX, { orderId: 8n }), 'all'],
  ['a pause', encodedLog('tip20', 'PauseStateUpdate', TOKEN, { updater: SOMEBODY, isPaused: true }), [TOKEN]],
  [
    'a new quote token',
    encodedLog('tip20', 'QuoteTokenUpdate', TOKEN, { updater: SOMEBODY, newQuoteToken: OTHER }),
    [TOKEN],
  ],
  ['a transfer', encodedLog('tip20', 'Transfer', TOKEN, { from: SOMEBODY, to: DEX, amount: 1n }), []],
  ['a mint', encodedLog('tip20', 'Mint', TOKEN, { to: SOMEBODY, amount: 1n }), []],
  [
    'a role',
    encodedLog('tip20', 'RoleMembershipUpdated', TOKEN, {
      role: `0x${'0'.repeat(64)}`,
      account: SOMEBODY,
      sender: SOMEBODY,
      hasRole: true,
    }),
    [],
  ],
])('%s changes the quotes through its own token, or none', ([, log, changed]) => {
  expect(changesOf(log)).toEqual(changed === 'all' ? 'all' : new Set(changed))
})

const unknown = (address: string): RawLog => ({
  ...encodedLog('tip20', 'Mint', address, { to: SOMEBODY, amount: 1n }),
  topics: [`0x${'ab'.repeat(32)}`],
})

test('an event that is not known may change the quotes through its token, and one of the exchange all', () => {
  expect(changesOf(unknown(TOKEN))).toEqual(new Set([TOKEN]))
  expect(changesOf(unknown(DEX))).toBe('all')
  expect(changesOf(unknown(SOMEBODY))).toEqual(new Set())
})

test('every event of a token that the ABI has is one whose effect on quotes was decided', () => {
  const changing = Abis.tip20.flatMap((item) => {
    if (item.type !== 'event') return []
    const log = { ...unknown(TOKEN), topics: [toEventSelector(item)] }
    return quoteChanges([log], [], () => undefined) === 'all' ||
      (quoteChanges([log], [], () => undefined) as Set<string>).size > 0
      ? [item.name]
      : []
  })
  expect(changing.sort()).toEqual(['PauseStateUpdate', 'QuoteTokenUpdate'])
})
