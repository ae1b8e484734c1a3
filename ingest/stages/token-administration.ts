import type { FactPosition } from '../../clickhouse/chain/blocks.js'
import type {
  LogoUpdate,
  PauseEvent,
  PolicyEvent,
  QuoteTokenProposal,
} from '../../clickhouse/stablecoins/administration.js'
import { registeredPolicyType } from '../../clickhouse/stablecoins/newest-states.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './rows.js'

/** The proposed quote tokens of stables, in log order. */
export const quoteTokenProposals = (block: EventBlock, events: readonly ChainEvent[]): QuoteTokenProposal[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'NextQuoteTokenSet') return null
    return { stable: event.address, quote_token: event.args.nextQuoteToken, updater: event.args.updater }
  })

/** The changes of logos, in log order. */
export const logoUpdates = (block: EventBlock, events: readonly ChainEvent[]): LogoUpdate[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'LogoURIUpdated') return null
    return { stable: event.address, logo_uri: event.args.newLogoURI, updater: event.args.updater }
  })

/** The pauses and their ends among a block's events, in log order. */
export const pauseEvents = (block: EventBlock, events: readonly ChainEvent[]): PauseEvent[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'PauseStateUpdate') return null
    return { stable: event.address, is_paused: event.args.isPaused, updater: event.args.updater }
  })

type Change = Omit<PolicyEvent, keyof FactPosition>

// Columns that most events leave empty.
const UNSET = {
  stable: null,
  policy_id: null,
  policy_type: null,
  account: null,
  is_member: null,
  sender_policy_id: null,
  recipient_policy_id: null,
  mint_recipient_policy_id: null,
  token_filter_id: null,
  recovery_authority: null,
} as const

function change(event: ChainEvent): Change | null {
  switch (event.name) {
    case 'TransferPolicyUpdate': {
      const { updater, newPolicyId } = event.args
      return { ...UNSET, kind: 'token_policy', stable: event.address, policy_id: newPolicyId.toString(), updater }
    }
    case 'PolicyCreated': {
      const { policyId, updater, policyType } = event.args
      const policy_type = registeredPolicyType(policyType)
      return { ...UNSET, kind: 'created', policy_id: policyId.toString(), policy_type, updater }
    }
    case 'CompoundPolicyCreated': {
      const { policyId, creator, senderPolicyId, recipientPolicyId, mintRecipientPolicyId } = event.args
      return {
        ...UNSET,
        kind: 'compound_created',
        policy_id: policyId.toString(),
        policy_type: 'compound',
        updater: creator,
        sender_policy_id: senderPolicyId.toString(),
        recipient_policy_id: recipientPolicyId.toString(),
        mint_recipient_policy_id: mintRecipientPolicyId.toString(),
      }
    }
    case 'PolicyAdminUpdated': {
      const { policyId, updater, admin } = event.args
      return { ...UNSET, kind: 'admin', policy_id: policyId.toString(), updater, account: admin }
    }
    case 'WhitelistUpdated': {
      const { policyId, updater, account, allowed } = event.args
      return { ...UNSET, kind: 'whitelist', policy_id: policyId.toString(), updater, account, is_member: allowed }
    }
    case 'BlacklistUpdated': {
      const { policyId, updater, account, restricted } = event.args
      return { ...UNSET, kind: 'blacklist', policy_id: policyId.toString(), updater, account, is_member: restricted }
    }
    case 'ReceivePolicyUpdated': {
      const { account, senderPolicyId, tokenFilterId, recoveryAuthority } = event.args
      return {
        ...UNSET,
        kind: 'receive_policy',
        updater: account,
        account,
        sender_policy_id: senderPolicyId.toString(),
        token_filter_id: tokenFilterId.toString(),
        recovery_authority: recoveryAuthority,
      }
    }
    default:
      return null
  }
}

/**
 * The transfer policy events among a block's events, in log order. If a policy is created with accounts, their events
 * come before its own.
 */
export const policyEvents = (block: EventBlock, events: readonly ChainEvent[]): PolicyEvent[] =>
  rowsOf(block, events, change)
