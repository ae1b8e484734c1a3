/** A stable is quoted in another token from this log on. */
export type QuoteTokenUpdate = {
  stable: string
  quote_token: string
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}
