import type { Facts } from '../../clickhouse/facts/facts.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { feeDistributions, feeElections, feePoolEvents, feesPaid } from './fees.js'
import { rewardClaims, rewardDistributions, rewardRecipients, supplyEvents } from './rewards.js'
import { logoUpdates, pauseEvents, policyEvents, quoteTokenProposals } from './token-administration.js'
import { heldTransfers, virtualForwards } from './transfers.js'

/** The facts that follow from a block's logs alone. `events` are the decoded logs. */
export const logFacts = (block: BlockWithLogs, events: readonly ChainEvent[]): Partial<Facts> => ({
  supply_events: supplyEvents(block, events),
  pause_events: pauseEvents(block, events),
  policy_events: policyEvents(block, events),
  reward_distributions: rewardDistributions(block, events),
  reward_recipients: rewardRecipients(block, events),
  reward_claims: rewardClaims(block, events),
  fee_elections: feeElections(block, events),
  fee_distributions: feeDistributions(block, events),
  fee_pool_events: feePoolEvents(block, events),
  fees_paid: feesPaid(block),
  held_transfers: heldTransfers(block, events),
  virtual_forwards: virtualForwards(block, events),
  quote_token_proposals: quoteTokenProposals(block, events),
  logo_updates: logoUpdates(block, events),
})
