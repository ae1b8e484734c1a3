import { Receipt } from 'mppx'
import { describe, expect } from 'vitest'
import { accounts } from '../../../../devnet/accounts.js'
import { balanceOf, PAID_PATHS, payer } from '../../../fixtures/paying.js'
import { test } from '../../../fixtures/payments.js'

const [alice] = accounts.traders

describe('a real client pays', () => {
  test.for([
    ['analysis', 'pull'],
    ['analysis', 'push'],
    ['history', 'pull'],
    ['history', 'push'],
    ['export', 'pull'],
    ['export', 'push'],
  ] as const)(
    '%s, %s: the price moves once, the answer and its receipt come back, and the ledger says the same',
    async ([route, mode], { chain, serve, ledger }) => {
      const { url, terms, close } = await serve()
      const { path, price } = PAID_PATHS[route]
      const response = await payer(chain.rpcUrl, alice, mode).fetch(`${url}${path}`)
      expect([response.status, await response.json()]).toEqual([200, expect.any(Object)])
      expect(response.headers.get('cache-control')).toBe('private, no-store')
      const receipt = Receipt.fromResponse(response)
      expect(receipt).toMatchObject({ method: 'tempo', status: 'success' })
      expect(await balanceOf(chain.rpcUrl, terms.recipient)).toBe(price)
      await close()
      const common = {
        tx_hash: receipt.reference,
        amount_raw: `${price}`,
        mode,
        payer: alice.address.toLowerCase(),
        attempt: 0,
      }
      expect(await ledger(terms.recipient)).toMatchObject([
        { step: 'accepted', ...common },
        { step: 'settled', ...common },
        { step: 'answered', ...common },
      ])
    },
  )
})
