import type { ListedStable } from '../../board/stables.js'
import type { Coverage } from '../parts/block.js'

type Role = { role: string; account: string; granted_at: string | null; granted_block: number | null; source: string }

/** GET /stablecoins/{address}, as far as it is shown. Amounts are base units. */
export type Detail = Omit<ListedStable, 'peg'> & {
  currency: string
  tier: string
  tracked: boolean
  policy: { type: string; policy_id: string; policy_admin: string | null; paused: boolean } | null
  peg:
    | (NonNullable<ListedStable['peg']> & {
        mid_price: number | null
        bid_ask_bps: number | null
        price_age_seconds: number
      })
    | null
  open_break: { severity: string; started_at: string } | null
  recent_supply_events: readonly {
    kind: string
    account: string
    amount: string
    block_number: number
    log_index: number
    block_timestamp: string
  }[]
  role_holders: {
    coverage: Coverage & { roles_tracked: readonly { name: string; powers: string }[] }
    roles: readonly Role[]
  }
}
