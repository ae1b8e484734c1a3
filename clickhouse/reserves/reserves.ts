import { z } from 'zod'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { KnownAt, NEWEST_REVISION, publisher, SHOWN } from '../jobs/publications.js'
import { QuoteStatus } from '../peg/price.js'
import { defineOptionalRow } from '../store/define-query.js'
import { dateTime, integerText } from '../store/values.js'

/** The kinds of backing that a stable may have; `unknown` if its issuer is not in the registry. */
export const RESERVE_TYPES = [
  'protocol_native',
  'bridged_fiat',
  'fiat_backed',
  'crypto_mixed',
  'crypto_backed',
  'yield_wrapper',
  'unknown',
] as const

type ReserveType = (typeof RESERVE_TYPES)[number]

/** A stable's backing at a slot; the columns are described in clickhouse/schema. Times in unix seconds. */
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

/** Publishes the backing of a slot. */
export const publishReserves = publisher<ReserveSnapshot>('reserve_snapshots')

/**
 * A stable's newest reserve snapshot at or before `as_of`, of those that were shown at `known_at`; null if there was
 * none.
 */
export const reservesAt = recentFirst(
  defineOptionalRow({
    name: 'reserves_at',
    params: z.object({
      stable: z.string(),
      as_of: z.date(),
      known_at: KnownAt,
      recent_only: z.boolean(),
    }),
    row: z.object({
      slot_at: dateTime,
      revision: z.int(),
      published_at: dateTime,
      reserve_type: z.enum(RESERVE_TYPES),
      supply_raw: integerText.nullable(),
      price_micros: z.int().nullable(),
      sample_status: QuoteStatus.nullable(),
      label: z.string().nullable(),
      issuer: z.string().nullable(),
      backing_model: z.string().nullable(),
      attestation_source: z.string().nullable(),
      attested_at: dateTime.nullable(),
    }),
    sql: `
    SELECT slot_at, revision, published_at, reserve_type, toString(supply_raw) AS supply_raw, price_micros,
           sample_status, label, issuer, backing_model, attestation_source, attested_at
    FROM reserve_snapshots
    WHERE stable = {stable: String} AND slot_at <= {as_of: DateTime} AND ${isRecent('slot_at', 'as_of')}
      AND ${SHOWN}
    ORDER BY slot_at DESC, ${NEWEST_REVISION} LIMIT 1`,
  }),
)

/**
 * The value of a supply in USD at a price, rounded to the millionth, halves up. `supply_raw` in base units (6
 * decimals), the price in millionths of the reference stable. Null if either was not measured, which is not the same as
 * 0.
 */
export function backingUsd(supply_raw: bigint | null, price_micros: number | null): number | null {
  if (supply_raw === null || price_micros === null) return null
  return Number((supply_raw * BigInt(price_micros) + 500_000n) / 1_000_000n) / 1e6
}
