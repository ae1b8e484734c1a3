/**
 * A stable's state at the end of a block. `policy_admin` is null for the two built-in policies; what holders opted in to
 * rewards, and what these paid for a token, times 1e18, are null where the chain has none.
 */
export type StateRead = {
  stable: string
  supply_raw: string
  cap_raw: string
  paused: boolean
  policy_id: string
  policy_type: 'reject_all' | 'allow_all' | 'whitelist' | 'blacklist' | 'compound'
  policy_admin: string | null
  opted_in_raw: string | null
  reward_per_token_raw: string | null
  block_number: number
  block_time: number
}
