import { type CoverageRequest, coverageAt, type StoredBlocks } from './coverage.js'
import { asTokens, type EconomyFacts, iso, type Raw, sumOf, until } from './rows.js'

const DAY = 86_400
const WINDOWS = { '24h': 1, '7d': 7, '30d': 30 } as const
const BASELINE_DAYS = 30
const LARGEST = 10
const MOST_MISSING = 100

type Amount = bigint | null

/** Divided as integers, so that the quotient of any two amounts is right to 15 digits. */
const quotient = (a: bigint, b: bigint): number => Number((a * 10n ** 90n) / b) / 1e90

const published = (name: string, raw: Amount, supply: Amount) => ({
  [name]: raw === null ? null : `${raw}`,
  [`${name}_tokens`]: raw === null ? null : asTokens(raw),
  [`${name}_pct`]: raw === null || !supply ? null : 100 * quotient(raw, supply),
})

/** The largest first; of equal ones the one that came last. */
const bySize = (a: Raw, b: Raw): number => {
  const [amountA, amountB] = [BigInt(`${a.amount_raw}`), BigInt(`${b.amount_raw}`)]
  return amountA === amountB ? b.block_number - a.block_number || b.log_index - a.log_index : amountA > amountB ? -1 : 1
}

const largest = (rows: readonly Raw[]) =>
  rows
    .toSorted(bySize)
    .slice(0, LARGEST)
    .map((row) => ({
      kind: row.kind,
      account: row.account,
      amount: row.amount_raw,
      amount_tokens: asTokens(BigInt(`${row.amount_raw}`)),
      block_number: row.block_number,
      log_index: row.log_index,
      block_timestamp: iso(row.at),
      tx_hash: row.tx_hash,
    }))

/**
 * The mints and burns of a stable as of an instant, from each single event and state, and from which blocks are stored;
 * without labels, and without the coverage of the whole.
 */
export function issuanceAt(
  { economy, stored }: { economy: EconomyFacts; stored: StoredBlocks },
  stable: string,
  at: number,
) {
  const created = economy.stablecoins.find((row) => row.stable === stable)
  const events = until(economy.supply_events, at, stable).filter(({ kind }) => kind !== 'cap')
  const mints = events.filter(({ kind }) => kind === 'mint')
  const burns = events.filter(({ kind }) => kind !== 'mint')
  const within = (rows: readonly Raw[], from: number, to: number): Raw[] =>
    rows.filter((row) => row.at > from && row.at <= to)
  const covered = (family: string, from: number, to: number, limit = MOST_MISSING) => {
    const since = created && { block_number: created.block_number, block_time: created.at }
    const request: CoverageRequest = { families: [family], stable, from, to, ...(since && { since }) }
    return coverageAt(stored, request, limit)
  }

  const supplyAt = (start: number): { supply: Amount; block: number | null } => {
    if (created && created.at > start) return { supply: created.block_number === 0 ? null : 0n, block: null }
    const read = until(economy.state_reads, start, stable).at(-1)
    if (!read || covered('state', read.at, start).missing_count > 0) return { supply: null, block: null }
    return { supply: BigInt(`${read.supply_raw}`), block: read.block_number }
  }

  const windows = Object.entries(WINDOWS).map(([window, days]) => {
    const start = at - days * DAY
    const coverage = covered('logs', start + 1, at)
    const sum = (rows: readonly Raw[]): Amount =>
      coverage.status === 'unavailable' ? null : sumOf(within(rows, start, at))
    const [minted, burned] = [sum(mints), sum(burns)]
    const { supply, block } = supplyAt(start)
    return {
      window,
      ...published('minted', minted, supply),
      ...published('burned', burned, supply),
      ...published('net_issuance', minted === null || burned === null ? null : minted - burned, supply),
      mint_count: within(mints, start, at).length,
      burn_count: within(burns, start, at).length,
      supply_at_start: supply === null ? null : `${supply}`,
      supply_at_start_tokens: supply === null ? null : asTokens(supply),
      supply_block_number: block,
      coverage: supply === null && coverage.status === 'complete' ? { ...coverage, status: 'partial' } : coverage,
    }
  })

  const yesterday = at - DAY
  const holes = covered('logs', yesterday - BASELINE_DAYS * DAY + 1, at, Number.POSITIVE_INFINITY).missing
  const baseline = Array.from({ length: BASELINE_DAYS }, (_, i) => yesterday - i * DAY).filter(
    (end) =>
      (created?.at ?? 0) <= end - DAY &&
      !holes.some(({ from, to }) => Date.parse(from) / 1000 <= end && Date.parse(to) / 1000 > end - DAY),
  )
  const before = baseline.reduce((sum, end) => sum + sumOf(within(burns, end - DAY, end)), 0n)
  const days = BigInt(baseline.length)
  const last = windows[0]?.coverage.status === 'unavailable' ? null : sumOf(within(burns, yesterday, at))
  return {
    windows_as_of: iso(at),
    windows,
    burn_surge: {
      ratio: last === null || before === 0n || days < 7n ? null : quotient(last * days, before),
      baseline_days: baseline.length,
      baseline_burned: days === 0n ? null : `${before}`,
      baseline_daily_tokens: days === 0n ? null : quotient(before, days * 1_000_000n),
    },
    largest_mints: largest(within(mints, at - 30 * DAY, at)),
    largest_burns: largest(within(burns, at - 30 * DAY, at)),
  }
}
