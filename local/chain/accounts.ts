import { mnemonicToAccount } from 'viem/accounts'

/** The mnemonic that anvil derives its prefunded accounts from. Public knowledge: only ever for a local chain. */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** How many prefunded accounts the node is started with; each holds 2^64 - 1 micro-units of every genesis stable. */
export const DEV_ACCOUNT_COUNT = 20

export type Account = ReturnType<typeof mnemonicToAccount>

const at = (addressIndex: number): Account => mnemonicToAccount(DEV_MNEMONIC, { addressIndex })

/** Left to whoever uses the chain: the market does not count on what they have, or on how many transactions they sent. */
export const users = [at(0), at(1), at(2)] as const

/** Who acts in the market, and pays its fees in pathUSD. Account 10 is free as well. */
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

/** Gets what requests are paid with on the local chain. Takes no part in the market. */
export const payee = at(18).address
