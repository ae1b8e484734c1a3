import type { FactPosition } from '../chain/blocks.js'

/**
 * A transfer of a stable: what balances are made of. `fee` is the fee of a transaction; `forward` is the second log of a
 * transfer to a virtual address, which the chain passes on. `amount_raw` is in base units, as a decimal string.
 */
export type Transfer = Omit<FactPosition, 'tx_hash'> & {
  stable: string
  kind: 'transfer' | 'mint' | 'burn' | 'fee' | 'forward'
  sender: string
  recipient: string
  amount_raw: string
}
