import { Challenge, Credential, Receipt } from 'mppx'
import { keccak256 } from 'viem'
import { Transaction } from 'viem/tempo'
import { describe, expect } from 'vitest'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { accounts } from '../../../../../local/chain/accounts.js'
import { checkPayments } from '../../../../../tools/verify/invariants/payments.js'
import {
  ALPHA_USD,
  balanceOf,
  challengeAt,
  challengesAt,
  credentialFor,
  PAID_PATHS,
  payer,
  present,
  resigned,
} from '../../../../support/paying.js'
import { stepsOfAnswered, test } from '../../../../support/payments.js'
import { rpcOf } from '../../../../support/rpc.js'

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

describe('where payments are made in several currencies', () => {
  const CURRENCIES = [ALPHA_USD, REFERENCE_STABLE] as const
  const { path, price } = PAID_PATHS.history
  type Made = { signature: Transaction.TransactionSerializedTempo }

  /** What a recipient has of each currency. */
  const earned = (rpcUrl: string, recipient: string): Promise<bigint[]> =>
    Promise.all(CURRENCIES.map((currency) => balanceOf(rpcUrl, recipient, currency)))

  /** Why a response refuses a payment. */
  async function refusal(response: Response): Promise<{ type: string; detail: string }> {
    expect(response.status).toBe(402)
    return response.json() as Promise<{ type: string; detail: string }>
  }

  test('a request without payment gets a challenge in each, preferred first', async ({ serve }) => {
    for (const currencies of [CURRENCIES, [...CURRENCIES].reverse()]) {
      const { url } = await serve({ currencies })
      const response = await present(`${url}${path}`)
      const challenges = Challenge.fromResponseList(response)
      expect(challenges.map(({ request }) => [request.currency, request.amount])).toEqual(
        currencies.map((currency) => [currency, `${price}`]),
      )
      expect(new Set(challenges.map(({ id }) => id)).size).toBe(2)
      expect(response.headers.get('www-authenticate')).toContain('Bearer realm="plumbline"')
      expect(await response.json()).toMatchObject({ price: '0.02', currency: currencies[0], currencies })
    }
  })

  test('each can be paid, in both modes, and the receipt and the ledger have the one that was', async ({
    chain,
    serve,
    database: { clickhouse },
  }) => {
    const { url, terms, close } = await serve({ currencies: CURRENCIES })
    const payments = ['pull', 'push'].flatMap((mode) => CURRENCIES.map((currency, i) => ({ mode, currency, i })))
    for (const { mode, currency, i } of payments) {
      const before = await earned(chain.rpcUrl, terms.recipient)
      const challenge = (await challengesAt(`${url}${path}`))[i] as Challenge.Challenge
      const credential = await credentialFor(chain.rpcUrl, challenge, alice, mode as 'pull' | 'push')
      const response = await present(`${url}${path}`, credential)
      expect([currency, mode, response.status]).toEqual([currency, mode, 200])
      expect(Receipt.fromResponse(response)).toMatchObject({ status: 'success', currency })
      expect(await earned(chain.rpcUrl, terms.recipient)).toEqual(before.with(i, (before[i] as bigint) + price))
    }
    await close()
    const query = `SELECT currency, step, count()::UInt32 AS steps FROM payments WHERE recipient = '${terms.recipient}' GROUP BY ALL`
    const steps = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
    expect(steps).toHaveLength(6)
    for (const currency of CURRENCIES)
      for (const step of ['accepted', 'settled', 'answered']) expect(steps).toContainEqual({ currency, step, steps: 2 })
    const check = { clickhouse, rpc: rpcOf(chain.rpcUrl), payees: [], fromBlock: 1 }
    expect(await checkPayments(check)).toMatchObject({ status: 'match' })
  })

  test('a payer with the stock tools pays the first, or the one that it chooses', async ({ chain, serve }) => {
    const { url, terms } = await serve({ currencies: CURRENCIES })
    expect((await payer(chain.rpcUrl, alice).fetch(`${url}${path}`)).status).toBe(200)
    expect(await earned(chain.rpcUrl, terms.recipient)).toEqual([price, 0n])
    const orderChallenges = (candidates: ReadonlyArray<{ challenge: Challenge.Challenge }>) =>
      candidates.filter(({ challenge }) => challenge.request.currency === REFERENCE_STABLE)
    const chosen = { orderChallenges } as RequestInit
    expect((await payer(chain.rpcUrl, alice).fetch(`${url}${path}`, chosen)).status).toBe(200)
    expect(await earned(chain.rpcUrl, terms.recipient)).toEqual([price, price])
  })

  test('a payment in one is refused for the challenge of the other, and a credential pays once', async ({
    chain,
    serve,
    ledger,
  }) => {
    const { url, terms } = await serve({ currencies: CURRENCIES })
    const target = `${url}${path}`
    for (const mode of ['pull', 'push'] as const) {
      const [first, second] = (await challengesAt(target)) as [Challenge.Challenge, Challenge.Challenge]
      const altered = { request: { currency: REFERENCE_STABLE } }
      const wrong = await credentialFor(chain.rpcUrl, first, alice, mode, altered)
      expect((await refusal(await present(target, wrong))).type).toMatch(/verification-failed$/)
      const made = Credential.deserialize(wrong)
      const swapped = Credential.serialize({ ...made, challenge: second })
      expect((await refusal(await present(target, swapped))).type).toMatch(/verification-failed$/)
      const claimed = { ...second, request: { ...second.request, currency: ALPHA_USD } }
      const forged = Credential.serialize({ ...made, challenge: claimed })
      expect((await refusal(await present(target, forged))).type).toMatch(/invalid-challenge$/)
    }
    expect(await ledger(terms.recipient)).toEqual([])
    const credential = await credentialFor(chain.rpcUrl, (await challengesAt(target))[1] as Challenge.Challenge, alice)
    expect((await present(target, credential)).status).toBe(200)
    expect((await refusal(await present(target, credential))).detail).toContain('already used for an answer')
  })

  test('one transaction with a transfer for the challenge of each pays once', async ({ chain, serve, ledger }) => {
    const { url, terms, close } = await serve({ currencies: CURRENCIES })
    const target = `${url}${path}`
    const [first, second] = (await challengesAt(target)) as [Challenge.Challenge, Challenge.Challenge]
    const inFirst = await credentialFor(chain.rpcUrl, first, alice)
    const inSecond = await credentialFor(chain.rpcUrl, second, alice)
    const callsOf = (credential: string) =>
      Transaction.deserialize(Credential.deserialize<Made>(credential).payload.signature).calls ?? []
    const calls = [...callsOf(inFirst), ...callsOf(inSecond)]
    const both = await resigned(inFirst, alice, { calls, gas: 2_000_000n })
    expect((await present(target, both)).status).toBe(200)
    expect(await earned(chain.rpcUrl, terms.recipient)).toEqual([price, price])
    const hash = keccak256(Credential.deserialize<Made>(both).payload.signature)
    const { source } = Credential.deserialize(both)
    const again = Credential.serialize({
      challenge: second,
      payload: { type: 'hash', hash },
      ...(source && { source }),
    })
    expect((await refusal(await present(target, again))).detail).toBe('this transaction has paid for another request')
    await close()
    expect(await ledger(terms.recipient)).toMatchObject(
      stepsOfAnswered({ tx_hash: hash, amount_raw: `${price}`, mode: 'pull' }, alice),
    )
  })

  test('a payment in one that is no longer taken is refused by name, and nothing is sent', async ({
    chain,
    serve,
    ledger,
  }) => {
    const before = await serve({ currencies: CURRENCIES })
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${before.url}${path}`), alice)
    await before.close()
    const after = await serve({ ...before.terms, currencies: [REFERENCE_STABLE] })
    expect(await refusal(await present(`${after.url}${path}`, credential))).toMatchObject({
      type: expect.stringMatching(/invalid-challenge$/),
      detail: `this service no longer takes payments in ${ALPHA_USD}, and has sent nothing`,
      currencies: [REFERENCE_STABLE],
    })
    expect(await earned(chain.rpcUrl, after.terms.recipient)).toEqual([0n, 0n])
    expect(await ledger(after.terms.recipient)).toEqual([])
  })
})
