import { PlumblineError } from '../../process/errors.js'

/** A fact that its column cannot hold. ClickHouse would store it modulo the column's size, without an error. */
class FactTooLargeError extends PlumblineError {
  constructor(table: string, column: string, row: Record<string, unknown>) {
    const { block_number: block, log_index: log } = row
    super(
      `${table}.${column} of block ${block}${log === undefined ? '' : `, log ${log}`} is ${row[column]}, which is not an unsigned integer of ${COLUMN_BITS[table]?.[column]} bits: nothing of this batch is stored`,
      { retryable: false },
    )
  }
}

/**
 * The size in bits of every column that holds integers of the chain as decimal strings, or prices. TIP-20 keeps amounts
 * in 128 bits, also where its events have 256; what any contract may state (an OFT's event) is judged before it becomes
 * a fact. So no account can make a value that is refused here: it would take another protocol.
 */
export const COLUMN_BITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  dex_orders: { order_id: 128, amount_raw: 128 },
  dex_order_flips: { order_id: 128, amount_raw: 128 },
  dex_order_ends: { order_id: 128 },
  dex_fills: { order_id: 128, base_raw: 128, quote_raw: 128 },
  supply_events: { amount_raw: 256 },
  policy_events: {
    policy_id: 64,
    sender_policy_id: 64,
    recipient_policy_id: 64,
    mint_recipient_policy_id: 64,
    token_filter_id: 64,
  },
  reward_distributions: { amount_raw: 128 },
  reward_claims: { amount_raw: 128 },
  fee_distributions: { amount_raw: 128 },
  fee_pool_events: { user_amount_raw: 128, validator_amount_raw: 128, liquidity_raw: 256 },
  fees_paid: { amount_raw: 128 },
  held_transfers: { blocked_nonce: 64, amount_raw: 128 },
  virtual_forwards: { amount_raw: 128 },
  transfers: { amount_raw: 128 },
  flows: { amount_in_raw: 128, amount_out_raw: 128, usd_micros: 128 },
  state_reads: { supply_raw: 256, cap_raw: 256, policy_id: 64, opted_in_raw: 128, reward_per_token_raw: 256 },
  peg_samples: { sell_micros: 32, buy_micros: 32 },
  depth_samples: { sell_raw: 64, buy_raw: 64 },
}

/** Digits of which every number fits into this many bits. */
const DIGITS_THAT_FIT = new Map([32, 64, 128, 256].map((bits) => [bits, `${2n ** BigInt(bits)}`.length - 1]))

const isInteger = (text: string): boolean => /^\d+$/.test(text)

/** Throws FactTooLargeError if a value of these rows does not fit into its column. */
export function checkWidths(table: string, rows: readonly object[]): void {
  for (const [column, bits] of Object.entries(COLUMN_BITS[table] ?? {})) {
    const fitting = DIGITS_THAT_FIT.get(bits) as number
    for (const row of rows as readonly Record<string, unknown>[]) {
      const value = row[column]
      if (value === null || value === undefined) continue
      const text = String(value)
      if (!isInteger(text) || (text.length > fitting && BigInt(text) >= 2n ** BigInt(bits)))
        throw new FactTooLargeError(table, column, row)
    }
  }
}
