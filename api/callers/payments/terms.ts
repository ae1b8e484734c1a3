import { createHash } from 'node:crypto'
import type { Address, Hex } from 'viem'

/** The settings of payments. */
export type PaymentTerms = {
  /** Receives the money; lower case. */
  recipient: Address
  /** TIP-20 tokens, each with six decimals; preferred first, in lower case. If omitted, those of the chain. */
  currencies?: readonly Address[] | undefined
  /** A node of the database's chain. May contain a key: it must not be logged. */
  rpcUrl: string
  /** Identifies the service to payers, and on the chain in the memo of each transfer: the host of its public URL. */
  realm: string
  /** At least 32 characters. Proves that a challenge is ours; the same in all processes of a service. */
  challengeSecret: string
  /** Pays the gas of every payment, if set. */
  feePayerKey?: Hex | undefined
  /** How long a challenge can be paid, in milliseconds. */
  challengeMs?: number | undefined
}

/** Decimals of every TIP-20. */
export const CURRENCY_DECIMALS = 6

/** What is sold: one answer to one request. */
export type Offer = {
  /** In whole units of any of the currencies. */
  price: string
  /** What a payment is bound to, so that it pays for nothing else. */
  scope: string
  description: string
}

/** Sorts the fields of objects, so that the same parameters serialize equally in any order. */
const sorted = (_: string, value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** The scope of a request: its route, and a digest of its validated parameters. */
export function scopeOf(route: string, params: unknown, query: unknown): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([params, query], sorted))
    .digest('base64url')
  return `GET ${route} ${digest}`
}
