import type { FactPosition } from '../chain/position.js'

/** Somebody gives an amount to the holders of a stable who opted in. Amounts are base units as decimal strings. */
export type RewardDistribution = FactPosition & { stable: string; funder: string; amount_raw: string }

/** A holder says who gets the rewards of what it holds: itself, another, or with the zero address nobody. */
export type RewardRecipient = FactPosition & { stable: string; holder: string; recipient: string }

/** A stable pays out rewards that have come together. */
export type RewardClaim = FactPosition & { stable: string; account: string; amount_raw: string }
