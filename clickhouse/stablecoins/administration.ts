import type { FactPosition } from '../chain/blocks.js'

/** A stable is to be quoted in another token; it is from the QuoteTokenUpdate on. */
export type QuoteTokenProposal = FactPosition & { stable: string; quote_token: string; updater: string }

/** A stable has another logo. The address is whatever its issuer wrote. */
export type LogoUpdate = FactPosition & { stable: string; logo_uri: string; updater: string }

/** A stable is paused, or goes on. */
export type PauseEvent = FactPosition & { stable: string; is_paused: boolean; updater: string }

/**
 * An event about transfer policies: a stable takes one (`token_policy`), or the registry of policies changes. What an
 * event does not say is null. `account` is who is put on a list or taken off, who administers the policy now, or whose
 * receive policy it is; the three policy ids are the parts of a compound, or of a receive policy.
 */
export type PolicyEvent = FactPosition & {
  kind: 'token_policy' | 'created' | 'compound_created' | 'admin' | 'whitelist' | 'blacklist' | 'receive_policy'
  stable: string | null
  policy_id: string | null
  policy_type: 'whitelist' | 'blacklist' | 'compound' | null
  updater: string
  account: string | null
  is_member: boolean | null
  sender_policy_id: string | null
  recipient_policy_id: string | null
  mint_recipient_policy_id: string | null
  token_filter_id: string | null
  recovery_authority: string | null
}
