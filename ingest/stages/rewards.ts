import type { RewardClaim, RewardDistribution, RewardRecipient } from '../../clickhouse/rewards/rewards.js'
import type { SupplyEvent } from '../../clickhouse/supply/supply.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './rows.js'

/** The rewards given to holders of stables, in log order. */
export const rewardDistributions = (block: EventBlock, events: readonly ChainEvent[]): RewardDistribution[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'RewardDistributed') return null
    return { stable: event.address, funder: event.args.funder, amount_raw: event.args.amount.toString() }
  })

/** The changes of who receives an account's rewards, in log order. */
export const rewardRecipients = (block: EventBlock, events: readonly ChainEvent[]): RewardRecipient[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'RewardRecipientSet') return null
    return { stable: event.address, holder: event.args.holder, recipient: event.args.recipient }
  })

/**
 * The rewards paid out, in log order. A claim has no event of its own, but a token's contract makes no other payments.
 */
export const rewardClaims = (block: EventBlock, events: readonly ChainEvent[]): RewardClaim[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'Transfer' || event.args.from !== event.address) return null
    return { stable: event.address, account: event.args.to, amount_raw: event.args.amount.toString() }
  })

function supplyChange(event: ChainEvent): Pick<SupplyEvent, 'kind' | 'account' | 'amount_raw'> | null {
  switch (event.name) {
    case 'Mint':
      return { kind: 'mint', account: event.args.to, amount_raw: event.args.amount.toString() }
    case 'Burn':
      return { kind: 'burn', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'BurnBlocked':
      return { kind: 'burn_blocked', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'BurnAt':
      return { kind: 'burn_at', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'SupplyCapUpdate':
      return { kind: 'cap', account: event.args.updater, amount_raw: event.args.newSupplyCap.toString() }
    default:
      return null
  }
}

/** The changes of supplies and caps among a block's events, in log order. */
export const supplyEvents = (block: EventBlock, events: readonly ChainEvent[]): SupplyEvent[] =>
  rowsOf(block, events, (event) => {
    const changed = supplyChange(event)
    return changed === null ? null : { ...changed, stable: event.address }
  })
