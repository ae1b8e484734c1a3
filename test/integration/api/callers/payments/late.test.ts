import { Challenge, Credential, Receipt } from 'mppx'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { accounts } from '../../../../../local/chain/accounts.js'
import type { BareChain } from '../../../../../local/chain/bare-chain.js'
import { ALPHA_USD, balanceOf, challengeAt, credentialFor, PAID_PATHS, present } from '../../../../support/paying.js'
import { stepsOfAnswered, test } from '../../../../support/payments.js'
import { relayedNode } from '../../../../support/relayed-node.js'

const [alice, bob] = accounts.traders
const { path, price } = PAID_PATHS.history
const HOUR_MS = 3_600_000

/** The answer of the service when its clock is this long after the expiry of the credential's challenge. */
async function late<T>(credential: string, act: () => Promise<T>, lateMs = 1000): Promise<T> {
  vi.setSystemTime(Date.parse(Credential.deserialize(credential).challenge.expires as string) + lateMs)
  try {
    return await act()
  } finally {
    vi.useRealTimers()
  }
}

const presentLate = (target: string, credential: string, lateMs?: number): Promise<Response> =>
  late(credential, () => present(target, credential), lateMs)

/** The kind of a refusal, and its Retry-After, if any. */
async function refusal(response: Response): Promise<[string, string | null]> {
  expect(response.status).toBe(402)
  expect(Challenge.fromResponse(response).id).toBeTruthy()
  const { type } = (await response.json()) as { type: string }
  return [type.replace('https://paymentauth.org/problems/', ''), response.headers.get('retry-after')]
}

const EXPIRED = ['payment-expired', null]

/** Waits until the node has a block from after the expiry of a challenge. The time of a block is in whole seconds. */
async function passed(chain: BareChain, { expires }: Challenge.Challenge): Promise<void> {
  const newest = async (): Promise<number> => {
    const { timestamp } = (await chain.rpc.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    return Number(timestamp) * 1000
  }
  await expect.poll(newest, { timeout: 60_000 }).toBeGreaterThan(Date.parse(expires as string))
}

describe('a transaction sent before the challenge expired and presented later', () => {
  test.for([
    ['a moment', 1000],
    ['23 hours', 23 * HOUR_MS],
  ] as const)(
    '%s: it is answered once, and the ledger has it like any other',
    async ([, lateMs], { chain, serve, ledger }) => {
      const { url, terms, close } = await serve()
      const target = `${url}${path}`
      const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, 'push')
      const response = await presentLate(target, credential, lateMs)
      expect([response.status, await response.json()]).toEqual([200, expect.any(Object)])
      const { hash } = Credential.deserialize<{ hash: string }>(credential).payload
      expect(Receipt.fromResponse(response).reference).toBe(hash)
      expect(await balanceOf(chain.rpcUrl, terms.recipient)).toBe(price)
      expect((await refusal(await presentLate(target, credential, lateMs)))[0]).toBe('invalid-challenge')
      expect((await refusal(await present(target, credential)))[0]).toBe('invalid-challenge')
      await close()
      expect(await ledger(terms.recipient)).toMatchObject(
        stepsOfAnswered({ tx_hash: hash.toLowerCase(), amount_raw: `${price}`, mode: 'push' }, alice),
      )
    },
  )

  test('to two processes at once: it is answered once', async ({ chain, serve, ledger }) => {
    const first = await serve()
    const second = await serve(first.terms)
    // What it reads only once has parameters with a date, which the replaced clock would not know as one.
    await challengeAt(`${second.url}${path}`)
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${first.url}${path}`), alice, 'push')
    const uses = [first, second, first, second]
    const statuses = await late(credential, () =>
      Promise.all(uses.map(async ({ url }) => (await present(`${url}${path}`, credential)).status)),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 402 || status === 409)).toHaveLength(3)
    await first.close()
    await second.close()
    expect((await ledger(first.terms.recipient)).map(({ step }) => step)).toEqual(['accepted', 'settled', 'answered'])
  })

  test('because the node was away until then: it is answered', async ({ chain, serve }) => {
    const node = await relayedNode(chain.rpcUrl, () => 'refused')
    onTestFinished(() => node.close())
    const { url, terms } = await serve({ rpcUrl: node.url })
    const target = `${url}${path}`
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, 'push')
    expect((await present(target, credential)).status).toBe(503)
    expect((await presentLate(target, credential)).status).toBe(503)
    node.treat = () => 'answered'
    expect((await presentLate(target, credential)).status).toBe(200)
    expect(await balanceOf(chain.rpcUrl, terms.recipient)).toBe(price)
  })

  test('by more than a day: it is refused', async ({ chain, serve, ledger }) => {
    const { url, terms } = await serve()
    const target = `${url}${path}`
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, 'push')
    expect(await refusal(await presentLate(target, credential, 24 * HOUR_MS + 1))).toEqual(EXPIRED)
    expect(await ledger(terms.recipient)).toEqual([])
    expect((await presentLate(target, credential, 24 * HOUR_MS)).status).toBe(200)
  })
})

describe('an expired challenge stays expired for', () => {
  test('a transaction that was sent after that', async ({ chain, serve, ledger }) => {
    const { url, terms } = await serve({ challengeMs: 1 })
    const target = `${url}${path}`
    const challenge = await challengeAt(target)
    await passed(chain, challenge)
    const expires = new Date(Date.now() + HOUR_MS).toISOString()
    const credential = await credentialFor(chain.rpcUrl, challenge, alice, 'push', { expires })
    expect(await balanceOf(chain.rpcUrl, terms.recipient)).toBe(price)
    expect(await refusal(await present(target, credential))).toEqual(EXPIRED)
    expect(await ledger(terms.recipient)).toEqual([])
  })

  test.for([
    ['too little', { request: { amount: '19999' } }],
    ['too much', { request: { amount: '20001' } }],
    ['another currency', { request: { currency: ALPHA_USD } }],
    ['what somebody else got', { request: { recipient: accounts.maker.address } }],
  ] as const)('%s', async ([, altered], { chain, serve, ledger }) => {
    const { url, terms } = await serve()
    const target = `${url}${path}`
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, 'push', altered)
    expect(await refusal(await presentLate(target, credential))).toEqual(EXPIRED)
    expect(await ledger(terms.recipient)).toEqual([])
  })

  test('the transaction of another challenge, and of another payer than the credential names', async ({
    chain,
    serve,
    ledger,
  }) => {
    const { url, terms } = await serve()
    const target = `${url}${path}`
    const made = Credential.deserialize(await credentialFor(chain.rpcUrl, await challengeAt(target), alice, 'push'))
    const other = Credential.serialize({ ...made, challenge: await challengeAt(target) })
    expect(await refusal(await presentLate(target, other))).toEqual(EXPIRED)
    const source = made.source?.replace(/0x.*/, bob.address) as string
    expect(source).toContain('did:pkh')
    expect(await refusal(await presentLate(target, Credential.serialize({ ...made, source })))).toEqual(EXPIRED)
    expect(await ledger(terms.recipient)).toEqual([])
    // A credential without a payer is verified by the memo.
    const { source: _, ...unnamed } = made
    expect((await presentLate(target, Credential.serialize(unnamed))).status).toBe(200)
  })

  test('a transaction in no block, once the node has the blocks of that time', async ({ chain, serve }) => {
    const payload = { type: 'hash', hash: `0x${'cd'.repeat(32)}` }
    const early = `${(await serve()).url}${path}`
    const behind = Credential.serialize({ challenge: await challengeAt(early), payload })
    expect(await refusal(await presentLate(early, behind))).toEqual(['verification-failed', '1'])

    const target = `${(await serve({ challengeMs: 1 })).url}${path}`
    const challenge = await challengeAt(target)
    await passed(chain, challenge)
    expect(await refusal(await present(target, Credential.serialize({ challenge, payload })))).toEqual(EXPIRED)
  })
})
