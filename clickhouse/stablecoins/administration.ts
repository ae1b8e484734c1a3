import type { FactPosition } from '../chain/blocks.js'
import type { RegisteredPolicyType } from './newest-states.js'

/** A proposal to quote a stable in another token. It takes effect with the QuoteTokenUpdate. */
export type QuoteTokenProposal = FactPosition & { stable: string; quote_token: string; updater: string }

/** A stable's new logo. Its address is stored as the issuer wrote it. */
export type LogoUpdate = FactPosition & { stable: string; logo_uri: string; updater: string }

/** A stable was paused or unpaused. */
export type PauseEvent = FactPosition & { stable: string; is_paused: boolean; updater: string }

/**
 * An event about transfer policies: a stable adopts one (`token_policy`), or the policy registry changes. Fields that
 * an event does not have are null. `account` is the account added to or removed from a list, the new administrator of
 * the policy, or the owner of a receive policy. The three policy ids are the parts of a compound or receive policy.
 */
export type PolicyEvent = FactPosition & {
  kind: 'token_policy' | 'created' | 'compound_created' | 'admin' | 'whitelist' | 'blacklist' | 'receive_policy'
  stable: string | null
  policy_id: string | null
  policy_type: RegisteredPolicyType | null
  updater: string
  account: string | null
  is_member: boolean | null
  sender_policy_id: string | null
  recipient_policy_id: string | null
  mint_recipient_policy_id: string | null
  token_filter_id: string | null
  recovery_authority: string | null
}
