import { describe, expect, test } from 'vitest'
import { paymentTermsOf } from '../../../../../api/callers/payments/env.js'
import { ApiConfig } from '../../../../../api/config.js'
import { currenciesOn } from '../../../../../clickhouse/payments/currencies.js'
import { payeesOf } from '../../../../../clickhouse/payments/ledger.js'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { parseEnv } from '../../../../../process/environment.js'

const RECIPIENT = `0x${'Ab'.repeat(20)}`
const SECRETS_KEY = 'k'.repeat(43)
const termsOf = (env: Record<string, string>) => paymentTermsOf(parseEnv(ApiConfig, env))

describe('the settings of payments', () => {
  test('are none without a recipient', () => {
    expect(termsOf({ SECRETS_KEY, PAYMENT_RPC_URL: 'http://node' })).toBe(null)
  })

  test('are those in the environment, or their defaults', () => {
    const few = { PAYMENT_RECIPIENT: RECIPIENT, SECRETS_KEY, RPC_URL: 'http://one,http://two' }
    expect(termsOf(few)).toMatchObject({
      recipient: RECIPIENT.toLowerCase(),
      currencies: undefined,
      rpcUrl: 'http://one',
      realm: 'localhost',
      feePayerKey: undefined,
    })
    const PAYMENT_CURRENCY = '0x20C0000000000000000000000000000000000001'
    const more = { PAYMENT_RPC_URL: 'https://node/k', PUBLIC_URL: 'https://api.example:8443/x', PAYMENT_CURRENCY }
    const named = { rpcUrl: 'https://node/k', realm: 'api.example', currencies: [PAYMENT_CURRENCY.toLowerCase()] }
    expect(termsOf({ ...few, ...more })).toMatchObject(named)
  })

  const [ALPHA, BETA] = ['01', '02'].map((end) => `0x20C00000000000000000000000000000000000${end}`) as [string, string]
  const currenciesOf = (PAYMENT_CURRENCY: string) =>
    termsOf({ PAYMENT_RECIPIENT: RECIPIENT, SECRETS_KEY, RPC_URL: 'http://one', PAYMENT_CURRENCY })?.currencies

  test('name the currencies in order of preference', () => {
    expect(currenciesOf(`${BETA}, ${ALPHA}`)).toEqual([BETA.toLowerCase(), ALPHA.toLowerCase()])
    expect(currenciesOf(BETA)).toEqual([BETA.toLowerCase()])
    expect(currenciesOf('')).toBe(undefined)
  })

  test('without currencies are those of the chain: on the main network what payers hold, and always the reference stable', () => {
    const [OUSD, USDC_E] = ['0x20c0000000000000000000006a37da5c996874be', '0x20c000000000000000000000b9537d11c60e8b50']
    expect(currenciesOn(4217, undefined)).toEqual([OUSD, USDC_E, REFERENCE_STABLE])
    for (const chainId of [1337, 42431]) expect(currenciesOn(chainId, undefined)).toEqual([REFERENCE_STABLE])
    expect(currenciesOn(4217, [ALPHA])).toEqual([ALPHA])
    const env = { PAYMENT_RECIPIENT: RECIPIENT, PUBLIC_URL: 'https://api.example' }
    expect(payeesOf(env, 4217).map(({ currency, realm }) => [currency, realm])).toEqual(
      [OUSD, USDC_E, REFERENCE_STABLE].map((currency) => [currency, 'api.example']),
    )
    expect(payeesOf({}, 4217)).toEqual([])
  })

  test.for([
    ['nothing but a comma', ',', /TIP-20/],
    ['an empty place', `${ALPHA},`, /TIP-20/],
    ['no address', 'pathUSD', /TIP-20/],
    ['half an address', ALPHA.slice(0, 30), /TIP-20/],
    ['an account', RECIPIENT, /TIP-20/],
    ['another separator', `${ALPHA} ${BETA}`, /TIP-20/],
    ['a token twice', `${ALPHA},${BETA},${ALPHA.toLowerCase()}`, /must not name a token twice/],
    ['a token that mppx makes no challenge in', `${ALPHA},0x20c000000000000000000000f37de3740ADec032`, /MACH/],
    ['five tokens', Array.from({ length: 5 }, (_, i) => `${ALPHA.slice(0, -1)}${i}`).join(','), /at most 4 tokens/],
  ] as const)('with %s as currencies are refused by name', ([, text, why]) => {
    expect(() => currenciesOf(text)).toThrow(why)
    expect(() => currenciesOf(text)).toThrow(/PAYMENT_CURRENCY: /)
  })

  test('have a secret derived from the service’s own, and different from it', () => {
    const secretOf = (key: string) =>
      termsOf({ PAYMENT_RECIPIENT: RECIPIENT, SECRETS_KEY: key, RPC_URL: 'http://one' })?.challengeSecret
    expect(secretOf(SECRETS_KEY)).toMatch(/^[\w-]{43}$/)
    expect(secretOf(SECRETS_KEY)).toBe(secretOf(SECRETS_KEY))
    expect(new Set([secretOf(SECRETS_KEY), secretOf('l'.repeat(43)), SECRETS_KEY]).size).toBe(3)
  })

  test('that are incomplete are refused by name, and no secret is printed', () => {
    expect(() => termsOf({ PAYMENT_RECIPIENT: RECIPIENT })).toThrow(/PAYMENT_RPC_URL.*\n.*SECRETS_KEY/)
    const bad = { PAYMENT_RECIPIENT: '0x12', PAYMENT_FEE_PAYER_KEY: 'hush', SECRETS_KEY: 'hush', PUBLIC_URL: 'here' }
    expect(() => termsOf(bad)).toThrow(/^(?=.*PAYMENT_RECIPIENT)(?=.*FEE_PAYER)(?=.*SECRETS)(?=.*PUBLIC)(?!.*hush)/s)
  })
})
