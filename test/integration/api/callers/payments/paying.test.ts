import { Receipt } from 'mppx'
import { describe, expect } from 'vitest'
import { accounts } from '../../../../../local/chain/accounts.js'
import { balanceOf, challengeAt, credentialFor, PAID_PATHS, payer, present } from '../../../../support/paying.js'
import { stepsOfAnswered, test } from '../../../../support/payments.js'

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
    '%s, %s: the price moves once, the client gets the answer with its receipt, and the ledger agrees',
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
      expect(await ledger(terms.recipient)).toMatchObject(
        stepsOfAnswered({ tx_hash: receipt.reference, amount_raw: `${price}`, mode }, alice),
      )
    },
  )
})

test('requests to routes with a price are counted by outcome', async ({ chain, serve }) => {
  const { url } = await serve()
  const { analysis, history } = PAID_PATHS
  expect((await payer(chain.rpcUrl, alice).fetch(`${url}${analysis.path}`)).status).toBe(200)
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${url}${history.path}`), alice)
  expect((await present(`${url}${history.path}`, credential)).status).toBe(200)
  expect((await present(`${url}${history.path}`, credential)).status).toBe(402)
  const counted = async () =>
    [...(await (await fetch(`${url}/metrics`)).text()).matchAll(/^plumbline_payments_total(.*)$/gm)].map(([, it]) => it)
  // An answer counts as finished a moment after its client has it.
  await expect
    .poll(counted, { timeout: 60_000 })
    .toEqual(
      expect.arrayContaining([
        '{route="/api/v1/stablecoins/:address/analysis",outcome="challenged"} 1',
        '{route="/api/v1/stablecoins/:address/analysis",outcome="answered"} 1',
        '{route="/api/v1/stablecoins/flows/history",outcome="challenged"} 1',
        '{route="/api/v1/stablecoins/flows/history",outcome="answered"} 1',
        '{route="/api/v1/stablecoins/flows/history",outcome="refused"} 1',
      ]),
    )
})
