import { mnemonicToAccount } from 'viem/accounts'

/**
 * The mnemonic from which anvil derives its prefunded accounts. It is public, so it must only be used on a local chain.
 */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** Number of prefunded accounts of the node; each holds 2^64 - 1 micro-units of every genesis stable. */
export const DEV_ACCOUNT_COUNT = 20

export type Account = ReturnType<typeof mnemonicToAccount>

const at = (addressIndex: number): Account => mnemonicToAccount(DEV_MNEMONIC, { addressIndex })

/** Accounts for users of the chain. The market never depends on their balances or nonces. */
export const users = [at(0), at(1), at(2)] as const

/**
 * Accounts of the market, which pay fees in pathUSD. `sanctioned` only appears in a blacklist and never sends a
 * transaction.
 */
export const accounts = {
  issuer: at(3),
  maker: at(4),
  flipMaker: at(5),
  guardian: at(6),
  compliance: at(7),
  bridge: at(8),
  validator: at(9),
  sanctioned: at(10),
  suspect: at(17),
  traders: [at(11), at(12), at(13), at(14), at(15), at(16)],
} as const

/** Receives the payments for requests on the local chain. Takes no part in the market. */
export const payee = at(18).address
