import { type Address, concatHex, type Hex, pad } from 'viem'
import type { Call } from '../../../local/chain/calls.js'

/** Calls what its calldata names: 32 bytes of address, then the data. Reverts if that call does. */
const RUNTIME = '0x6020360360206000376000600060203603600060006000355af160225760006000fd5b00'

/** The transaction that creates the contract: anybody can have it hold tokens, trade on the DEX and pass on. */
export const createExecutor: Pick<Call, 'data'> = { data: concatHex(['0x602480600b6000396000f3', RUNTIME]) }

/** The call that has the executor make `made`. */
export const through = (executor: Address, { to, data }: Call): Call => ({
  to: executor,
  data: concatHex([pad(to), data]) as Hex,
})
