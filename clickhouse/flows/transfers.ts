import type { FactPosition } from '../chain/blocks.js'

/** A transfer to a virtual address, which the chain passes on: two Transfer logs, one movement. The log is the second. */
export type VirtualForward = FactPosition & {
  stable: string
  sender: string
  virtual_address: string
  recipient: string
  amount_raw: string
}

/**
 * A transfer that the receiver's own policy holds back, or what becomes of it. `blocked_nonce` names the hold. `receipt`
 * is what a claim has to show, only with `held`; `caller` and `recipient` say who ended it and who got the amount.
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
