/** How many accounts have chosen a token for fees. */
type Elections = { stable: string; users_electing: number; validators_electing: number }

/** Fees paid out in a token, in base units as decimal strings. */
type FeeSums = {
  stable: string
  last_24h_raw: string
  last_7d_raw: string
  all_time_raw: string
  distribution_count: number
}

type Named = { address: string; symbol: string; name: string }

const tokens = (raw: bigint): number => Number(raw) / 1e6

const total = (values: readonly string[]): bigint => values.reduce((sum, raw) => sum + BigInt(raw), 0n)

const count = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/**
 * The fee economics: totals over every token, whether or not it is a known stable, and a row a stable, the one with most
 * fees of the last seven days first, those alike by address. `share_of_fees_7d_pct` is null where there were none at all.
 */
export function feeOverview(stables: readonly Named[], elections: readonly Elections[], sums: readonly FeeSums[]) {
  const all7d = total(sums.map(({ last_7d_raw }) => last_7d_raw))
  const electionsOf = new Map(elections.map((row) => [row.stable, row]))
  const sumsOf = new Map(sums.map((row) => [row.stable, row]))
  const rows = stables.map(({ address, symbol, name }) => {
    const elected = electionsOf.get(address)
    const paid = sumsOf.get(address)
    const last7d = BigInt(paid?.last_7d_raw ?? 0)
    return {
      last7d,
      address,
      symbol,
      name,
      users_electing: elected?.users_electing ?? 0,
      validators_electing: elected?.validators_electing ?? 0,
      fees_received_24h_tokens: tokens(BigInt(paid?.last_24h_raw ?? 0)),
      fees_received_7d_tokens: tokens(last7d),
      fees_received_all_time_tokens: tokens(BigInt(paid?.all_time_raw ?? 0)),
      share_of_fees_7d_pct: all7d === 0n ? null : (Number(last7d) / Number(all7d)) * 100,
      distribution_count: paid?.distribution_count ?? 0,
    }
  })
  rows.sort((a, b) => Number(b.last7d > a.last7d) - Number(b.last7d < a.last7d) || (a.address < b.address ? -1 : 1))
  return {
    totals: {
      users_electing: count(elections.map(({ users_electing }) => users_electing)),
      validators_electing: count(elections.map(({ validators_electing }) => validators_electing)),
      fees_distributed_7d_tokens: tokens(all7d),
      fees_distributed_all_time_tokens: tokens(total(sums.map(({ all_time_raw }) => all_time_raw))),
      distribution_count: count(sums.map(({ distribution_count }) => distribution_count)),
    },
    stablecoins: rows.map(({ last7d, ...row }) => row),
  }
}
