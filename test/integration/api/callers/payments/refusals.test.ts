import { Challenge, Credential } from 'mppx'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, vi } from 'vitest'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { accounts, PAYER_KEY } from '../../../../../local/chain/accounts.js'
import { CHAIN_ID } from '../../../../../local/chain/anvil.js'
import {
  ALPHA_USD,
  balanceOf,
  challengeAt,
  credentialFor,
  PAID_PATHS,
  payer,
  present,
  resigned,
  send,
} from '../../../../support/paying.js'
import { type Served, test } from '../../../../support/payments.js'
import { stableAddress } from '../../../../support/rows.js'

const [alice, bob] = accounts.traders
const { path } = PAID_PATHS.history

/** The body of a refusal; also checks that it comes with a challenge that can be paid. */
async function refusal(response: Response) {
  expect(response.status).toBe(402)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(response.headers.get('payment-receipt')).toBe(null)
  const challenge = Challenge.fromResponse(response)
  const { type, detail } = (await response.json()) as { type: string; detail: string }
  return { kind: type.replace('https://paymentauth.org/problems/', ''), detail, challenge }
}

const earned = ({ terms }: Served): Promise<bigint> => balanceOf(terms.rpcUrl, terms.recipient)

test('a request without payment gets the price, in a challenge of its own', async ({ serve }) => {
  const { url, terms } = await serve()
  const before = Date.now()
  const response = await present(`${url}${path}`)
  const problem = await response.clone().json()
  const { kind, challenge } = await refusal(response)
  expect(kind).toBe('payment-required')
  expect(problem).toMatchObject({ status: 402, title: 'Payment Required', price: '0.02', currency: REFERENCE_STABLE })
  expect(challenge).toMatchObject({
    realm: 'localhost',
    method: 'tempo',
    intent: 'charge',
    request: {
      amount: '20000',
      currency: REFERENCE_STABLE,
      recipient: terms.recipient,
      methodDetails: { chainId: CHAIN_ID },
    },
  })
  const lifeMs = Date.parse(challenge.expires as string) - before
  expect(lifeMs).toBeGreaterThan(4 * 60_000)
  expect(lifeMs).toBeLessThan(10 * 60_000)
  expect((await challengeAt(`${url}${path}`)).id).not.toBe(challenge.id)
  expect(response.headers.get('www-authenticate')).toContain('Bearer realm="plumbline"')
})

test('the scheme of payments without a credential gets the price', async ({ serve }) => {
  const { url } = await serve()
  for (const authorization of ['Payment', 'payment', 'Payment  '])
    expect((await refusal(await present(`${url}${path}`, authorization))).kind).toBe('payment-required')
})

test('an invalid key gets a challenge besides the refusal, and can pay that', async ({ chain, serve }) => {
  const { url } = await serve()
  const target = `${url}${path}`
  const response = await present(target, 'Bearer pk_expired')
  expect([response.status, await response.json()]).toEqual([
    401,
    expect.objectContaining({ type: 'urn:plumbline:problem:invalid-key' }),
  ])
  expect(response.headers.get('www-authenticate')).toContain('Bearer realm="plumbline", error="invalid_token"')
  const priced = new Response(null, { status: 402, headers: response.headers })
  const credential = await credentialFor(chain.rpcUrl, Challenge.fromResponse(priced), alice)
  expect((await present(target, credential)).status).toBe(200)
  const free = await present(`${url}/api/v1/stablecoins`, 'Bearer pk_expired')
  expect([free.status, free.headers.get('www-authenticate')]).toEqual([
    401,
    'Bearer realm="plumbline", error="invalid_token"',
  ])
})

test('bad parameters and missing objects are reported before money moves', async ({ chain, serve }) => {
  const served = await serve()
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${served.url}${path}`), alice)
  const status = async (other: string) => (await present(`${served.url}${other}`, credential)).status
  expect(await status(`${path}&hour=1`)).toBe(400)
  expect(await status('/api/v1/stablecoins/flows/history?from=1&to=2')).toBe(404)
  expect(await status(`/api/v1/stablecoins/${stableAddress(9)}/analysis`)).toBe(404)
  expect(await status('/api/v1/stablecoins/flows/export?from=tomorrow')).toBe(400)
  expect(await earned(served)).toBe(0n)
})

test('a HEAD request gets the challenge, and its payment is not taken', async ({ chain, serve }) => {
  const served = await serve()
  const target = `${served.url}${path}`
  const head = await fetch(target, { method: 'HEAD' })
  const credential = await credentialFor(chain.rpcUrl, Challenge.fromResponse(head), alice)
  expect((await fetch(target, { method: 'HEAD', headers: { authorization: credential } })).status).toBe(402)
  expect(await earned(served)).toBe(0n)
  expect((await present(target, credential)).status).toBe(200)
})

describe.for(['pull', 'push'] as const)('a credential that was used (%s)', (mode) => {
  test('is refused, and pays nothing a second time', async ({ chain, serve }) => {
    const served = await serve()
    const target = `${served.url}${path}`
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, mode)
    expect((await present(target, credential)).status).toBe(200)
    for (const authorization of [credential, credential.replace('Payment', 'payment')]) {
      expect((await refusal(await present(target, authorization))).kind).toBe('invalid-challenge')
    }
    expect(await earned(served)).toBe(20_000n)
  })

  test('also by another process of the service', async ({ chain, serve }) => {
    const first = await serve()
    const second = await serve(first.terms)
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${first.url}${path}`), alice, mode)
    expect((await present(`${second.url}${path}`, credential)).status).toBe(200)
    await second.close()
    expect((await refusal(await present(`${first.url}${path}`, credential))).detail).toContain(
      'was already used for an answer',
    )
  })

  test('by two processes at once: it settles once', async ({ chain, serve, ledger }) => {
    const first = await serve()
    const second = await serve(first.terms)
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${first.url}${path}`), alice, mode)
    const uses = [first, second, first, second, first, second]
    const statuses = await Promise.all(uses.map(async ({ url }) => (await present(`${url}${path}`, credential)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 402 || status === 409)).toHaveLength(5)
    expect(await earned(first)).toBe(20_000n)
    await first.close()
    await second.close()
    expect((await ledger(first.terms.recipient)).map(({ step }) => step)).toEqual(['accepted', 'settled', 'answered'])
  })

  test('does not stand for another payment of the same challenge', async ({ chain, serve }) => {
    const served = await serve()
    const target = `${served.url}${path}`
    const challenge = await challengeAt(target)
    const [one, other] = [
      await credentialFor(chain.rpcUrl, challenge, alice, mode),
      await credentialFor(chain.rpcUrl, challenge, bob, mode),
    ]
    expect((await present(target, one)).status).toBe(200)
    expect((await refusal(await present(target, other))).detail).toContain('another payment')
  })
})

test('a stolen credential is only valid for its own request, in any spelling', async ({ chain, serve }) => {
  const served = await serve()
  const analysis = (i: number) => `${served.url}/api/v1/stablecoins/${stableAddress(i)}/analysis`
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(analysis(1)), alice)
  for (const other of [
    analysis(2),
    ...[PAID_PATHS.history, PAID_PATHS.export].map((one) => `${served.url}${one.path}`),
  ])
    expect((await refusal(await present(other, credential))).kind).toBe('invalid-challenge')
  expect(await earned(served)).toBe(0n)
  const shouted = `${served.url}/api/v1/stablecoins/${stableAddress(1).toUpperCase().replace('0X', '0x')}/analysis/`
  expect((await present(shouted, credential)).status).toBe(200)
  expect(await earned(served)).toBe(50_000n)
})

test('the order of parameters does not matter, but their values do', async ({ chain, serve }) => {
  const served = await serve()
  const query = new URL(`${served.url}${path}`).searchParams
  const [from, to] = [query.get('from'), query.get('to')]
  const history = `${served.url}/api/v1/stablecoins/flows/history`
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${served.url}${path}`), alice)
  const longer = await present(`${history}?from=${Number(from) - 1}&to=${to}`, credential)
  expect((await refusal(longer)).kind).toBe('invalid-challenge')
  expect((await present(`${history}?to=${to}&from=${from}`, credential)).status).toBe(200)
})

test('an expired challenge can no longer be paid by a transaction that the service would have to broadcast', async ({
  chain,
  serve,
}) => {
  // Enough for a busy machine to sign in.
  const served = await serve({ challengeMs: 20_000 })
  const challenge = await challengeAt(`${served.url}${path}`)
  const credential = await credentialFor(chain.rpcUrl, challenge, alice)
  await expect.poll(() => Date.now() > Date.parse(challenge.expires as string), { timeout: 60_000 }).toBe(true)
  expect((await refusal(await present(`${served.url}${path}`, credential))).kind).toBe('payment-expired')
  expect(await earned(served)).toBe(0n)
})

describe.for(['pull', 'push'] as const)('a payment is refused that is (%s)', (mode) => {
  test.for([
    ['too small', { request: { amount: '19999' } }],
    ['in another currency', { request: { currency: ALPHA_USD } }],
    ['to somebody else', { request: { recipient: accounts.maker.address } }],
  ] as const)('%s', async ([, altered], { chain, serve, ledger }) => {
    const served = await serve()
    const target = `${served.url}${path}`
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, mode, altered)
    const { kind, challenge } = await refusal(await present(target, credential))
    expect(kind).toBe('verification-failed')
    expect(challenge.request).toMatchObject({ amount: '20000', currency: REFERENCE_STABLE })
    expect(await ledger(served.terms.recipient)).toEqual([])
  })

  test('for another challenge', async ({ chain, serve }) => {
    const served = await serve()
    const target = `${served.url}${path}`
    const made = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, mode)
    const swapped = Credential.serialize({ ...Credential.deserialize(made), challenge: await challengeAt(target) })
    expect((await refusal(await present(target, swapped))).kind).toBe('verification-failed')
  })
})

test('a transaction for another chain is refused', async ({ chain, serve }) => {
  const served = await serve()
  const target = `${served.url}${path}`
  const own = await credentialFor(chain.rpcUrl, await challengeAt(target), alice)
  const { detail } = await refusal(await present(target, await resigned(own, alice, { chainId: 4217 })))
  expect(detail).toContain('chain 4217')
  expect(await earned(served)).toBe(0n)
})

test('a transaction with a nonce of 2^53 or more is refused by name: nothing is taken, and its challenge can still be paid', async ({
  chain,
  serve,
  ledger,
}) => {
  const served = await serve()
  const target = `${served.url}${path}`
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice)
  const before = await balanceOf(chain.rpcUrl, alice.address)
  for (const nonce of [2n ** 53n + 1n, 2n ** 64n - 1n]) {
    const { kind, detail } = await refusal(await present(target, await resigned(credential, alice, { nonce })))
    expect([kind, detail]).toEqual([
      'urn:plumbline:problem:number-too-large',
      expect.stringContaining('present its hash'),
    ])
  }
  expect([await earned(served), await balanceOf(chain.rpcUrl, alice.address)]).toEqual([0n, before])
  expect(await ledger(served.terms.recipient)).toEqual([])
  expect((await present(target, credential)).status).toBe(200)
  expect(await earned(served)).toBe(20_000n)
})

test('a hash that is in no block is refused with Retry-After', async ({ serve }) => {
  const { url } = await serve()
  const payload = { type: 'hash', hash: `0x${'ab'.repeat(32)}` }
  const credential = Credential.serialize({ challenge: await challengeAt(`${url}${path}`), payload })
  const response = await present(`${url}${path}`, credential)
  expect(response.headers.get('retry-after')).toBe('1')
  expect((await refusal(response)).kind).toBe('verification-failed')
})

test('a credential that does not answer one of our challenges is refused', async ({ chain, serve }) => {
  const { url } = await serve()
  const target = `${url}${path}`
  const elsewhere = await serve({ challengeSecret: 'the secret of another service, 32 bytes' })
  const theirs = await credentialFor(chain.rpcUrl, await challengeAt(`${elsewhere.url}${path}`), alice)
  const challenge = await challengeAt(target)
  const cheaper = { ...challenge, request: { ...challenge.request, amount: '1' } }
  const json = (value: unknown) => `Payment ${Buffer.from(JSON.stringify(value)).toString('base64url')}`
  const kinds = await Promise.all(
    [
      'Payment x',
      `Payment ${'A'.repeat(8000)}`,
      'Payment id="1", realm="2"',
      json({}),
      json({ challenge: { id: 1 }, payload: null }),
      theirs,
      await credentialFor(chain.rpcUrl, cheaper, alice),
      Credential.serialize({ challenge, payload: { type: 'transaction', signature: '0x76ff' } }),
      Credential.serialize({ challenge, payload: { type: 'transaction', signature: '0x02ff' } }),
      Credential.serialize({ challenge, payload: { type: 'proof', signature: `0x${'11'.repeat(65)}` } }),
      Credential.serialize({ challenge, payload: ['hash'] }),
    ].map(async (authorization) => (await refusal(await present(target, authorization))).kind),
  )
  expect(kinds).toEqual([
    ...Array(5).fill('malformed-credential'),
    ...Array(2).fill('invalid-challenge'),
    ...Array(4).fill('invalid-payload'),
  ])
})

test('a caller over the free limit gets the price, even for a forged payment, and can pay it', async ({
  chain,
  serve,
}) => {
  const served = await serve({}, undefined, 1)
  const missing = `${served.url}/api/v1/stablecoins/${stableAddress(9)}/analysis`
  const garbage = 'Payment eyJ9'
  expect((await present(missing, garbage)).status).toBe(404)
  const refused = await present(missing, garbage)
  expect(refused.headers.get('ratelimit')).toMatch(/^"free";r=0;t=/)
  expect(await refused.clone().json()).toMatchObject({ price: '0.05', currency: REFERENCE_STABLE })
  expect((await refusal(refused)).kind).toBe('malformed-credential')
  expect((await refusal(await present(missing))).kind).toBe('payment-required')
  expect((await present(`${served.url}/api/v1/stablecoins`)).status).toBe(429)

  const target = `${served.url}${path}`
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice)
  const answer = await present(target, credential)
  expect([answer.status, answer.headers.get('ratelimit')]).toEqual([200, null])
  // A real payment is checked, but not accepted twice.
  expect((await refusal(await present(target, credential))).detail).toContain('was already used for an answer')
})

describe('a payer without the money is refused, and nothing is printed:', () => {
  test.for([
    ['never had it', 'urn:plumbline:problem:insufficient-funds'],
    // The chain takes the fee, and reverts the transfer.
    ['has spent it', 'verification-failed'],
  ] as const)('%s', async ([which, kind], { chain, serve, ledger }) => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    const served = await serve()
    const target = `${served.url}${path}`
    const poor = privateKeyToAccount(generatePrivateKey())
    let credential = await resigned(await credentialFor(chain.rpcUrl, await challengeAt(target), alice), poor)
    if (which === 'has spent it') {
      await send(chain.rpcUrl, alice, poor.address, 69_000n)
      credential = await credentialFor(chain.rpcUrl, await challengeAt(target), poor)
      expect((await payer(chain.rpcUrl, poor).fetch(`${served.url}${PAID_PATHS.analysis.path}`)).status).toBe(200)
    }
    const before = await earned(served)
    for (let i = 0; i < 2; i++)
      expect(await refusal(await present(target, credential))).toMatchObject({
        kind,
        challenge: { id: expect.anything() },
      })
    expect(await earned(served)).toBe(before)
    await served.close()
    expect((await ledger(served.terms.recipient)).map((row) => `${row.step} ${row.amount_raw}`)).not.toContain(
      'settled 20000',
    )
    expect(said).not.toHaveBeenCalled()
    said.mockRestore()
  })
})

test('without a recipient of payments, the refusal says that only a key helps', async ({ serve }) => {
  const { url } = await serve(null)
  for (const credential of [undefined, 'Payment abc']) {
    const response = await present(`${url}${path}`, credential)
    expect([response.status, await response.json()]).toEqual([
      402,
      expect.objectContaining({ detail: expect.stringContaining('subscription key') }),
    ])
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="plumbline"')
  }
  expect(await (await fetch(`${url}/openapi.json`)).text()).not.toContain('x-payment-info')
})

test('a client that only has a key pair can be sponsored', async ({ chain, serve, ledger }) => {
  const served = await serve({ feePayerKey: PAYER_KEY })
  const before = await balanceOf(chain.rpcUrl, alice.address)
  const response = await payer(chain.rpcUrl, alice).fetch(`${served.url}${path}`)
  expect(response.status).toBe(200)
  expect(await balanceOf(chain.rpcUrl, alice.address)).toBe(before - 20_000n)
  await served.close()
  const hashes = new Set(
    (await ledger(served.terms.recipient)).filter(({ step }) => step !== 'accepted').map(({ tx_hash }) => tx_hash),
  )
  expect(hashes.size).toBe(1)
})
