import type { FactPosition } from '../chain/blocks.js'

/** Holds transfers that the receiver's own policy rejects, until they are claimed or burned. */
export const RECEIVE_POLICY_GUARD = '0xb10c000000000000000000000000000000000000'
/** Holds the deposits of payment channels, until they are settled with the payee or refunded to the payer. */
export const TIP20_CHANNEL_RESERVE = '0x4d50500000000000000000000000000000000000'
/** Prefix of the address of every zone's portal, which holds what is deposited to the zone; its last eight bytes are the zone's id. */
export const ZONE_PORTAL_PREFIX = `0x5ad0${'0'.repeat(20)}`
/** The protocol's contracts that hold tokens for somebody: what they get and give is no payment to or from them. */
export const CUSTODIANS = [RECEIVE_POLICY_GUARD, TIP20_CHANNEL_RESERVE] as const

/**
 * A transfer of a stable: what balances are made of. `fee` is the fee of a transaction; `forward` is the second log of a
 * transfer to a virtual address, which the chain passes on; `custody` is to or from one of the custodians. `amount_raw` is
 * in base units, as a decimal string.
 */
export type Transfer = Omit<FactPosition, 'tx_hash'> & {
  stable: string
  kind: 'transfer' | 'mint' | 'burn' | 'fee' | 'forward' | 'custody'
  sender: string
  recipient: string
  amount_raw: string
}
