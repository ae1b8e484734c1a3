import type { RewardClaim, RewardDistribution, RewardRecipient } from '../../clickhouse/rewards/rewards.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './position.js'

/** The rewards given to holders of stables, in log order. */
export const rewardDistributions = (block: EventBlock, events: readonly ChainEvent[]): RewardDistribution[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'RewardDistributed') return null
    return { stable: event.address, funder: event.args.funder, amount_raw: event.args.amount.toString() }
  })

/** Who takes whose rewards from here on, in log order. */
export const rewardRecipients = (block: EventBlock, events: readonly ChainEvent[]): RewardRecipient[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'RewardRecipientSet') return null
    return { stable: event.address, holder: event.args.holder, recipient: event.args.recipient }
  })

/** The rewards paid out, in log order. A claim has no event of its own, but a token's contract pays nothing else. */
export const rewardClaims = (block: EventBlock, events: readonly ChainEvent[]): RewardClaim[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'Transfer' || event.args.from !== event.address) return null
    return { stable: event.address, account: event.args.to, amount_raw: event.args.amount.toString() }
  })
