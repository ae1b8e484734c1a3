import type { Account } from './accounts.js'
import type { Call } from './calls.js'

/** A transaction without its nonce and signature. With several calls, it is sent as type 0x76. */
export type Intent = {
  /** Describes the transaction in the error if it fails. */
  label: string
  from: Account
  calls: readonly Call[]
}
