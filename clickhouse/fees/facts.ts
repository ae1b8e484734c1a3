import type { FactPosition } from '../chain/position.js'

/** The fee of a transaction, also of one that was reverted. `payer` is who paid it, which may be a sponsor. */
export type FeePaid = FactPosition & { stable: string; payer: string; amount_raw: string }

/** In which stable an account pays its fees, or a validator wants them, from here on. */
export type FeeElection = FactPosition & { kind: 'user' | 'validator'; account: string; stable: string }

/** A validator is paid the fees that have come together for it. */
export type FeeDistribution = FactPosition & { validator: string; stable: string; amount_raw: string }

/**
 * A change of a pool that turns the stable a fee is paid in into the one that the validator wants, by anything but a
 * fee: liquidity in or out, or a trade that puts the pool back in balance (in: validator's stable, out: users' stable).
 */
export type FeePoolEvent = FactPosition & {
  kind: 'mint' | 'burn' | 'rebalance'
  account: string
  recipient: string | null
  user_token: string
  validator_token: string
  user_amount_raw: string
  validator_amount_raw: string
  liquidity_raw: string
}
