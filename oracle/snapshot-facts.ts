import type { RecordedList } from './rows.js'

export type Sample = { stable: string; block_number: string; t: number; status: string; sell_micros: number | null }
export type State = {
  stable: string
  block_number: string
  t: number
  supply_raw: string
  cap_raw: string
  paused: boolean
  policy_id: string
  policy_type: string
}
type PolicyEvent = {
  kind: string
  stable: string | null
  policy_id: string | null
  sender_policy_id: string | null
  recipient_policy_id: string | null
  mint_recipient_policy_id: string | null
  t: number
}

/** The raw facts behind risk and reserves, in chain order; `t` is the block's time. */
export type SnapshotFacts = {
  start: number
  stables: { stable: string; symbol: string; currency: string; block_number: string; t: number }[]
  lists: readonly Pick<RecordedList, 'holds_from' | 'stables'>[]
  pairs: readonly { base: string; quote: string; at: number }[]
  samples: Map<string, Sample[]>
  states: Map<string, State[]>
  policyEvents: PolicyEvent[]
}
