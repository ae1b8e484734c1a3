/** What may stand behind a stable; `unknown` where nobody has said who issues it. */
export const RESERVE_TYPES = [
  'protocol_native',
  'bridged_fiat',
  'fiat_backed',
  'crypto_mixed',
  'crypto_backed',
  'yield_wrapper',
  'unknown',
] as const

export type ReserveType = (typeof RESERVE_TYPES)[number]

/**
 * What a supply is worth in USD at a price, to the millionth, halves up. `supply_raw` in base units (6 decimals), the
 * price in millionths of the reference stable. Null when either was not measured: that is not 0.
 */
export function backingUsd(supply_raw: bigint | null, price_micros: number | null): number | null {
  if (supply_raw === null || price_micros === null) return null
  return Number((supply_raw * BigInt(price_micros) + 500_000n) / 1_000_000n) / 1e6
}
