import { describe, expect, test } from 'vitest'
import { paymentTermsOf } from '../../../../../api/callers/payments/env.js'
import { ApiConfig } from '../../../../../api/config.js'
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
      currency: REFERENCE_STABLE,
      rpcUrl: 'http://one',
      realm: 'localhost',
      feePayerKey: undefined,
    })
    const PAYMENT_CURRENCY = '0x20C0000000000000000000000000000000000001'
    const more = { PAYMENT_RPC_URL: 'https://node/k', PUBLIC_URL: 'https://api.example:8443/x', PAYMENT_CURRENCY }
    const named = { rpcUrl: 'https://node/k', realm: 'api.example', currency: PAYMENT_CURRENCY.toLowerCase() }
    expect(termsOf({ ...few, ...more })).toMatchObject(named)
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
