import { expect, test } from 'vitest'
import { labelOf } from '../../../../api/stablecoins/labels.js'
import labels from '../../../../api/stablecoins/labels.json' with { type: 'json' }
import { FEE_MANAGER } from '../../../../ingest/chain/addresses.js'
import { accounts } from '../../../../local/chain/accounts.js'

test('an account in the curated file has its label, any other has none', () => {
  expect(labelOf(FEE_MANAGER)).toBe('Fee manager')
  expect(labelOf(accounts.issuer.address.toLowerCase())).toBe('Public test account 3')
  expect(labelOf(`0x${'1'.repeat(40)}`)).toBeNull()
})

test('no account is in the file twice', () => {
  const addresses = labels.map(({ address }) => address)
  expect(new Set(addresses).size).toBe(addresses.length)
})
