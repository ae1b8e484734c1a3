import { mnemonicToAccount } from 'viem/accounts'

/** The mnemonic that anvil derives its prefunded accounts from. Public knowledge: only ever for a local chain. */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** How many prefunded accounts the node is started with; each holds 2^64 - 1 micro-units of every genesis stable. */
export const DEV_ACCOUNT_COUNT = 20

export type Account = ReturnType<typeof mnemonicToAccount>

const at = (addressIndex: number): Account => mnemonicToAccount(DEV_MNEMONIC, { addressIndex })

/**
 * Who acts in the market. Accounts 0 to 2 are left to whoever uses the chain (and pay fees in other genesis stables);
 * the market's own pay in pathUSD. Account 10 is free as well.
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
