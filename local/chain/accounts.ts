import { type Hex, keccak256, type LocalAccount, toHex } from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'

/** An account whose key this program has. */
export type Account = LocalAccount

/**
 * Number of accounts that the node itself funds, derived from the mnemonic that stock tools use. Anybody may use them;
 * the market does not. Each holds 2^64 - 1 micro-units of every genesis stable.
 */
export const DEV_ACCOUNT_COUNT = 20

/** One of those accounts. */
export const devAccount = (addressIndex: number): Account =>
  mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex })

/** The first of those accounts. */
export const users = [devAccount(0), devAccount(1), devAccount(2)] as const

/** A key that is the same on every local chain. It is public, so it must never hold anything elsewhere. */
const localKey = (name: string): Hex => keccak256(toHex(`plumbline local chain: ${name}`))
const own = (name: string): Account => privateKeyToAccount(localKey(name))

/**
 * Accounts of the market, which nothing else uses. They pay fees in pathUSD. `sanctioned` only appears in a blacklist
 * and never sends a transaction.
 */
export const accounts = {
  issuer: own('issuer'),
  maker: own('maker'),
  flipMaker: own('flip maker'),
  guardian: own('guardian'),
  compliance: own('compliance'),
  bridge: own('bridge'),
  validator: own('validator'),
  sanctioned: own('sanctioned'),
  suspect: own('suspect'),
  traders: [own('trader 0'), own('trader 1'), own('trader 2'), own('trader 3'), own('trader 4'), own('trader 5')],
} as const

/** The key of the account that is reserved for whoever tries payments on the local chain. */
export const PAYER_KEY = localKey('payer')
export const payer: Account = privateKeyToAccount(PAYER_KEY)

/** Receives the payments for requests on the local chain. Takes no part in the market. */
export const payee = own('payee').address
