import type { PolicyEvent } from '../../clickhouse/stablecoins/administration.js'
import { stableAddress, txHash } from './rows.js'

/** An event of the policy registry at a time in Unix seconds; other fields are null. */
export const policyEvent = (at: number, changes: Partial<PolicyEvent>): PolicyEvent => ({
  kind: 'whitelist',
  stable: null,
  policy_id: null,
  policy_type: null,
  updater: stableAddress(0xad),
  account: null,
  is_member: null,
  sender_policy_id: null,
  recipient_policy_id: null,
  mint_recipient_policy_id: null,
  token_filter_id: null,
  recovery_authority: null,
  block_number: at,
  log_index: 0,
  block_time: at,
  tx_hash: txHash(at),
  ...changes,
})
