import { expect, test } from 'vitest'
import { labelOf } from '../../../../api/stablecoins/labels.js'
import labels from '../../../../api/stablecoins/labels.json' with { type: 'json' }
import { FEE_MANAGER } from '../../../../ingest/chain/addresses.js'
import { devAccount } from '../../../../local/chain/accounts.js'

const NOW = new Date('2026-11-21T00:00:00Z')

test('an account in the curated file has its label, any other has none', () => {
  expect(labelOf(FEE_MANAGER, NOW)).toBe('Fee manager')
  expect(labelOf(devAccount(3).address.toLowerCase(), NOW)).toBe('Public test account 3')
  expect(labelOf(`0x${'1'.repeat(40)}`, NOW)).toBeNull()
})

test('the largest holders of the main network have a label from the day on which it became known here', () => {
  const vault = '0x9a044ae05e5e6290dcf56afd69548565e957a626'
  expect(labelOf(vault, new Date('2026-11-27T23:59:59Z'))).toBeNull()
  const firstDay = new Date('2026-11-28T00:00:00Z')
  expect(labelOf(vault, firstDay)).toBe('Sentora vault')
  expect(labelOf('0x4d50500000000000000000000000000000000000', firstDay)).toBe('Payment channel reserve')
})

test('no account has two labels at one time', () => {
  const keys = labels.map(({ address, holds_from }) => `${address} ${holds_from}`)
  expect(new Set(keys).size).toBe(keys.length)
})
