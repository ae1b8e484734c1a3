import { hkdfSync } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { paymentCurrencies } from '../../../clickhouse/payments/currencies.js'
import { realmOf } from '../../../clickhouse/payments/ledger.js'
import { Address as AddressText } from '../../../clickhouse/store/values.js'
import { ConfigError, envUrl } from '../../../process/environment.js'
import type { PaymentTerms } from './terms.js'

/** The environment variables of payments, to be spread into the API's own schema. */
export const paymentEnv = {
  PAYMENT_RECIPIENT: AddressText.optional(),
  PAYMENT_CURRENCY: paymentCurrencies.optional(),
  PAYMENT_RPC_URL: envUrl('http', 'https').optional(),
  PAYMENT_FEE_PAYER_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a private key: 0x and 64 hexadecimal digits')
    .optional(),
  PUBLIC_URL: envUrl('http', 'https').optional(),
}

type PaymentEnv = {
  PAYMENT_RECIPIENT?: string | undefined
  PAYMENT_CURRENCY?: readonly string[] | undefined
  PAYMENT_RPC_URL?: string | undefined
  PAYMENT_FEE_PAYER_KEY?: string | undefined
  PUBLIC_URL?: string | undefined
  SECRETS_KEY?: Buffer | undefined
  /** Ingest's variable; its first node is used if PAYMENT_RPC_URL is not set. */
  RPC_URL?: string | undefined
}

/** A key for each purpose, so that a value made for one purpose is not valid for another. */
const challengeSecret = (secretsKey: Buffer): string =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'plumbline payment challenges', 32)).toString('base64url')

/** The settings in the environment; null without a recipient. Throws ConfigError if something is missing. */
export function paymentTermsOf(env: PaymentEnv): PaymentTerms | null {
  const { PAYMENT_RECIPIENT: recipient, PAYMENT_CURRENCY: currencies } = env
  if (recipient === undefined) return null
  const rpcUrl = env.PAYMENT_RPC_URL ?? env.RPC_URL?.split(',', 1)[0]
  const missing = [
    ...(rpcUrl === undefined ? ['PAYMENT_RPC_URL'] : []),
    ...(env.SECRETS_KEY === undefined ? ['SECRETS_KEY'] : []),
  ]
  if (rpcUrl === undefined || env.SECRETS_KEY === undefined)
    throw new ConfigError(missing.map((name) => `${name}: required if PAYMENT_RECIPIENT is set`))
  return {
    recipient: recipient as Address,
    currencies: currencies as Address[] | undefined,
    realm: realmOf(env),
    rpcUrl,
    challengeSecret: challengeSecret(env.SECRETS_KEY),
    feePayerKey: env.PAYMENT_FEE_PAYER_KEY as Hex | undefined,
  }
}
