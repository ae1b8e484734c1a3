import { Challenge, Credential } from 'mppx'
import { fromRlp, type Hex, keccak256, numberToHex, toRlp } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Transaction } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { createGateway } from '../../../../../api/callers/payments/gateway.js'
import { readProof } from '../../../../../api/callers/payments/proof.js'
import { readSignedTransaction } from '../../../../../api/callers/payments/signed-transaction.js'
import type { PaymentTerms } from '../../../../../api/callers/payments/terms.js'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'

const CHAIN_ID = 4217
const OTHER_CURRENCY = '0x20c0000000000000000000000000000000000001'
const HASH = `0x${'Ab'.repeat(32)}`
const terms: PaymentTerms = {
  recipient: `0x${'12'.repeat(20)}`,
  currencies: [REFERENCE_STABLE, OTHER_CURRENCY],
  // Nothing listens there: neither a challenge nor a credential's fields need the chain.
  rpcUrl: 'http://127.0.0.1:9',
  realm: 'api.example',
  challengeSecret: 'a secret of the tests only, of 32 bytes',
}
const offer = { price: '0.05', scope: 'GET /a x', description: 'a “briefing”, with \\ and "' }
const gateway = createGateway(terms, CHAIN_ID)
/** The challenges as a client reads them from the header. */
const challenges = async (): Promise<Challenge.Challenge[]> =>
  (await gateway.challenges(offer)).map((challenge) => Challenge.deserialize(Challenge.serialize(challenge)))
const challenge = async (): Promise<Challenge.Challenge> => (await challenges())[0] as Challenge.Challenge
const read = (authorization: string) => readProof(authorization, terms.challengeSecret, CHAIN_ID)
const kindOf = (authorization: string) =>
  read(authorization).then(
    () => 'none',
    (error) => error.refusal.kind,
  )

describe('a challenge', () => {
  test('of each currency, in order of preference, asks for the same number of base units', async () => {
    const requests = (await challenges()).map(({ request }) => [request.currency, request.amount])
    expect(requests).toEqual([REFERENCE_STABLE, OTHER_CURRENCY].map((currency) => [currency, '50000']))
  })

  test('has the price in base units, our chain, and a unique id', async () => {
    const [one, other] = await Promise.all([challenge(), challenge()])
    expect(one.request).toMatchObject({
      amount: '50000',
      currency: REFERENCE_STABLE,
      recipient: terms.recipient,
      methodDetails: { chainId: CHAIN_ID },
    })
    expect(one.realm).toBe('api.example')
    expect(one.id).not.toBe(other.id)
  })
})

test('without configured currencies a challenge is made in each of the chain’s', async () => {
  const currenciesAt = async (chainId: number) => {
    const { currencies, challenges } = createGateway({ ...terms, currencies: undefined }, chainId)
    expect((await challenges(offer)).map(({ request }) => request.currency)).toEqual(currencies)
    return currencies
  }
  expect(await currenciesAt(1337)).toEqual([REFERENCE_STABLE])
  const onMainNetwork = await currenciesAt(CHAIN_ID)
  expect(onMainNetwork).toHaveLength(3)
  expect(onMainNetwork.at(-1)).toBe(REFERENCE_STABLE)
})

describe('a credential', () => {
  test('is the same payment, whatever its other fields are', async () => {
    const own = await challenge()
    const source = `did:pkh:eip155:${CHAIN_ID}:0x${'AA'.repeat(20)}`
    const one = await read(Credential.serialize({ challenge: own, payload: { type: 'hash', hash: HASH }, source }))
    const other = await read(
      Credential.serialize({ challenge: own, payload: { hash: HASH.toLowerCase(), type: 'hash' } } as never),
    )
    expect(one).toMatchObject({
      challengeId: own.id,
      mode: 'push',
      payer: `0x${'aa'.repeat(20)}`,
      txHash: HASH.toLowerCase(),
      scope: offer.scope,
    })
    expect(other).toMatchObject({ digest: one.digest, payer: '' })
    const elsewhere = await read(
      Credential.serialize({ challenge: await challenge(), payload: { type: 'hash', hash: HASH } }),
    )
    expect(elsewhere.digest).not.toBe(one.digest)
  })

  test('for a challenge with one changed field is not for one of ours', async () => {
    const own = await challenge()
    const payload = { type: 'hash', hash: HASH }
    const changes: Array<Partial<Challenge.Challenge>> = [
      { id: `${own.id.slice(0, -1)}${own.id.endsWith('A') ? 'B' : 'A'}` },
      { realm: 'evil.example' },
      { expires: new Date(Date.now() + 86_400_000).toISOString() },
      { request: { ...own.request, amount: '1' } },
      { request: { ...own.request, currency: OTHER_CURRENCY } },
      { request: { ...own.request, recipient: `0x${'34'.repeat(20)}` } },
      { opaque: Buffer.from(JSON.stringify({ _mppx_scope: 'GET /b x', nonce: '1' })).toString('base64url') },
    ]
    for (const change of changes)
      expect(await kindOf(Credential.serialize({ challenge: { ...own, ...change }, payload }))).toBe(
        'invalid-challenge',
      )
    expect(await kindOf(Credential.serialize({ challenge: own, payload }))).toBe('none')
  })

  test('of any other shape is malformed', async () => {
    const json = (value: unknown) => `Payment ${Buffer.from(JSON.stringify(value)).toString('base64url')}`
    for (const text of [
      'Payment x',
      'Payment  ',
      json(null),
      json([]),
      json({ challenge: null }),
      json({ challenge: {} }),
    ])
      expect(await kindOf(text)).toBe('malformed-credential')
  })

  test('with a payload that pays nothing is refused as such', async () => {
    const own = await challenge()
    const payloads = [
      null,
      [],
      { type: 'hash', hash: '0x12' },
      { type: 'transaction', signature: '0x76' },
      { type: 'transaction', signature: `0x76${'ff'.repeat(2000)}` },
      { type: 'transaction', signature: `0x02${'f8'.repeat(50)}` },
      { type: 'proof', signature: `0x${'11'.repeat(65)}` },
    ]
    for (const payload of payloads)
      expect(await kindOf(Credential.serialize({ challenge: own, payload }))).toBe('invalid-payload')
  })

  test('names the signer by the signature, not by what the transaction says', async () => {
    const own = await challenge()
    const [payer, rich] = [privateKeyToAccount(generatePrivateKey()), privateKeyToAccount(generatePrivateKey())]
    const calls = [{ to: terms.recipient, data: '0x', value: 0n }]
    const unsigned = { chainId: CHAIN_ID, type: 'tempo', nonce: 0, calls, gas: 1n, maxFeePerGas: 1n }
    const sign = (transaction: object) =>
      payer.signTransaction(transaction as never, { serializer: Transaction.serialize as never })
    const signature = await sign(unsigned)
    // A sponsored transaction has its sender written in the place of the sponsor's signature.
    const sponsored = Transaction.deserialize((await sign({ ...unsigned, feePayer: true })) as never)
    const claimed = await Transaction.serialize({
      ...(sponsored as object),
      feePayer: true,
      from: rich.address,
    } as never)
    for (const [transaction, from] of [
      [signature, payer],
      [claimed, rich],
    ] as const) {
      const payload = { type: 'transaction', signature: transaction }
      const proof = await read(Credential.serialize({ challenge: own, payload }))
      expect(proof.payer).toBe(from.address.toLowerCase())
      expect(proof.signer()).toBe(payer.address.toLowerCase())
    }
  })
})

describe('a signed transaction', () => {
  const payer = privateKeyToAccount(generatePrivateKey())
  const LARGEST = 2n ** 64n - 1n
  const calls = [{ to: terms.recipient, data: '0x', value: 0n }]
  const signed = (changes: object) =>
    payer.signTransaction({ chainId: CHAIN_ID, type: 'tempo', calls, gas: 1n, maxFeePerGas: 1n, ...changes } as never, {
      serializer: Transaction.serialize as never,
    }) as Promise<Transaction.TransactionSerializedTempo>
  const sentByMppx = async (transaction: Transaction.TransactionSerializedTempo) =>
    Transaction.serialize(Transaction.deserialize(transaction))

  test.for([0n, 1n, 2n ** 53n - 1n, 2n ** 53n + 1n, LARGEST - 1n, LARGEST])(
    'with nonce %s has the hash of the bytes that were signed, and their signer',
    async (nonce) => {
      for (const nonceKey of [0n, 1n, 2n ** 256n - 1n]) {
        const transaction = await signed({ nonce, nonceKey })
        const read = await readSignedTransaction(transaction)
        expect(read).toMatchObject({ hash: keccak256(transaction), from: payer.address.toLowerCase() })
        expect(read.signer()).toBe(payer.address.toLowerCase())
        expect(read.isAltered).toBe((await sentByMppx(transaction)) !== transaction)
      }
    },
  )

  test('has the same hash, however its signature is encoded', async () => {
    const transaction = await signed({ nonce: LARGEST })
    const yParity = transaction.slice(-2)
    const others = [
      yParity === '1b' || yParity === '00' ? '00' : '01',
      yParity === '1b' || yParity === '00' ? '1b' : '1c',
    ]
    for (const other of others)
      expect((await readSignedTransaction(`${transaction.slice(0, -2)}${other}` as Hex)).hash).toBe(
        keccak256(transaction),
      )
  })

  test('is refused by name where mppx would send another one than was signed', async () => {
    const own = await challenge()
    const refusalOf = async (transaction: string) => {
      const payload = { type: 'transaction', signature: transaction }
      return read(Credential.serialize({ challenge: own, payload })).then(
        () => null,
        (error) => error.refusal,
      )
    }
    const largestSafe = await signed({ nonce: 2n ** 53n - 1n, nonceKey: 2n ** 256n - 1n })
    expect(await sentByMppx(largestSafe)).toBe(largestSafe)
    expect(await refusalOf(largestSafe)).toBe(null)
    for (const nonce of [2n ** 53n + 1n, LARGEST]) {
      const transaction = await signed({ nonce, nonceKey: 2n ** 256n - 1n })
      // Once this is equal, mppx can send it, and there is nothing to refuse.
      expect(await sentByMppx(transaction)).not.toBe(transaction)
      expect(await refusalOf(transaction)).toMatchObject({
        kind: 'number-too-large',
        detail: expect.stringContaining('nonce is 2^53 or more'),
      })
    }
    // viem signs no such time, but a wallet may.
    const ordinary = await signed({ nonce: 1n, validBefore: 1 })
    const fields = fromRlp(`0x${ordinary.slice(4)}`, 'hex') as Hex[]
    for (const [name, position] of [
      ['validBefore', 8],
      ['validAfter', 9],
    ] as const) {
      const transaction = `0x76${toRlp(fields.with(position, numberToHex(LARGEST))).slice(2)}`
      expect(await refusalOf(transaction)).toMatchObject({
        kind: 'number-too-large',
        detail: expect.stringContaining(`${name} is 2^53 or more`),
      })
    }
  })
})
