import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { blockNumber, blockTimestamp, integerText, logIndex, txHash } from '../store/values.js'

export const SupplyEventRow = z.object({
  kind: z
    .enum(['mint', 'burn', 'burn_blocked', 'cap'])
    .meta({ description: 'burn_blocked: burnt from an account that the policy blocks; cap: a new cap' }),
  account: z.string().meta({ description: 'mint: receiver, burn: holder, cap: who set it' }),
  amount: integerText.meta({ description: 'In base units: 6 decimals; the new cap for kind cap' }),
  block_number: blockNumber,
  log_index: logIndex,
  block_timestamp: blockTimestamp,
  tx_hash: txHash,
})

/** A stable's last ten changes of supply or cap up to `at`, newest first. */
export const recentSupplyEvents = defineQuery({
  name: 'recent_supply_events',
  params: z.object({ stable: z.string(), at: z.date() }),
  row: SupplyEventRow,
  sql: `
    SELECT kind, account, toString(amount_raw) AS amount, toUInt32(block_number) AS block_number, log_index,
           block_time AS block_timestamp, tx_hash
    FROM supply_events
    WHERE stable = {stable: String} AND block_time <= {at: DateTime}
    ORDER BY block_time DESC, supply_events.block_number DESC, log_index DESC LIMIT 10`,
})
