import type { ClickHouseClient } from '@clickhouse/client'
import type { QuoteStatus } from '../peg/peg.js'
import { insertRows } from '../store/insert.js'
import type { ReserveType } from './reserves.js'

/** What stands behind a stable at a slot, as the migration describes it. Times in unix seconds. */
export type ReserveSnapshot = {
  stable: string
  slot_at: number
  revision: number
  reserve_type: ReserveType
  supply_raw: string | null
  state_block_number: string | null
  price_micros: number | null
  price_block_number: number | null
  sample_status: QuoteStatus | null
  label: string | null
  issuer: string | null
  backing_model: string | null
  attestation_source: string | null
  attested_at: number | null
}

/** Adds the rows of a slot. Repeating its token changes nothing. */
export const insertReserveSnapshots = (
  clickhouse: ClickHouseClient,
  rows: readonly ReserveSnapshot[],
  token: string,
): Promise<void> => insertRows(clickhouse, 'reserve_snapshots', rows, token)
