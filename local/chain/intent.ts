import type { Account } from './accounts.js'
import type { Call } from './calls.js'

/** A transaction before it has a nonce and a signature. More than one call makes it one of type 0x76. */
export type Intent = {
  /** Says what it is for when it fails. */
  label: string
  from: Account
  calls: readonly Call[]
}
