import type { FactPosition } from '../chain/blocks.js'

/**
 * A transfer to a virtual address, which the chain forwards: one movement with two Transfer logs. The position is that
 * of the second log.
 */
export type VirtualForward = FactPosition & {
  stable: string
  sender: string
  virtual_address: string
  recipient: string
  amount_raw: string
}

/**
 * A transfer that was held because of the receiver's own policy, or the end of such a hold. `blocked_nonce` identifies
 * the hold. `receipt` is what a claim must present, only for `held`. `caller` ended the hold, and `recipient` received
 * the amount.
 */
export type HeldTransfer = FactPosition & {
  kind: 'held' | 'claimed' | 'burned'
  stable: string
  receiver: string
  blocked_nonce: string
  amount_raw: string
  originator: string | null
  caller: string | null
  recipient: string | null
  receipt: string | null
}
