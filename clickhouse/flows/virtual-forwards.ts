import type { FactPosition } from '../chain/position.js'

/** A transfer to a virtual address, which the chain passes on: two Transfer logs, one movement. The log is the second. */
export type VirtualForward = FactPosition & {
  stable: string
  sender: string
  virtual_address: string
  recipient: string
  amount_raw: string
}
