import type { ClickHouseClient } from '@clickhouse/client'
import { DAY_SECONDS } from '../../process/instants.js'
import type { Coverage, DataState } from '../chain/coverage.js'
import type { Ledger } from '../chain/ledger.js'
import { storedFor } from '../chain/missing.js'
import type { QuerySignal } from '../store/define-query.js'
import {
  holderSums,
  NO_SNAPSHOT,
  newestSnapshot,
  sumsWithoutContracts,
  transferSums,
  unexplainedSupply,
} from './balances.js'
import { CUSTODIANS } from './transfers.js'

/** The windows of which the activity may be asked, in days. */
export const HOLDER_WINDOWS = { '24h': 1, '7d': 7, '30d': 30 } as const
export type HolderWindow = keyof typeof HOLDER_WINDOWS

const DAYS_A_YEAR = 365

/** A quotient of integers of any size, to the nearest number. */
const divided = (a: bigint, b: bigint): number => Number(`${(a * 10n ** 60n) / b}e-60`)

/** `divided`, or null if the divisor is 0. */
const quotient = (a: bigint, b: bigint): number | null => (b === 0n ? null : divided(a, b))

/** Sums over the balances of `n` holders, from the largest to the smallest. */
type Sums = { n: bigint; sum: bigint; squares: bigint; rank_sum: bigint }

/** The Herfindahl-Hirschman index: the sum of squared percentages; null if nobody holds anything. */
export const hhiOf = ({ sum, squares }: Pick<Sums, 'sum' | 'squares'>): number | null =>
  quotient(10_000n * squares, sum * sum)

/** How unequally a supply is held: the Herfindahl-Hirschman index and the Gini coefficient; null if nobody holds any. */
export const concentration = ({ n, sum, squares, rank_sum }: Sums) => ({
  hhi: hhiOf({ sum, squares }),
  gini: quotient((n + 1n) * sum - 2n * rank_sum, n * sum),
})

type SumsRow = { holder_count: number; sum: string; squares: string; rank_sum: string }
const sumsOf = ({ holder_count, sum, squares, rank_sum }: SumsRow): Sums => ({
  n: BigInt(holder_count),
  sum: BigInt(sum),
  squares: BigInt(squares),
  rank_sum: BigInt(rank_sum),
})

const asTokens = (raw: bigint): number => Number(raw) / 1e6

/**
 * A stable, the block of its creation (0: it was there from the beginning), an instant in whole seconds, and the contracts that
 * hold for others.
 */
type Subject = {
  stable: string
  created: number
  at: Date
  window: HolderWindow
  contracts: readonly string[]
  ledger: Ledger
  coverage: Coverage
}

/**
 * The last block up to which every transfer is stored since the stable's creation, if no later ones are up to the instant: a
 * hole is not passed over. Null if there is none.
 */
function lastWholeBlock({ created, ledger, coverage: { missing, missing_count } }: Subject): number | null {
  const isAtEnd = missing_count === 1 && missing[0]?.from_block !== null && missing[0]?.to_block === null
  if (missing_count > 0 && !isAtEnd) return null
  const first = Math.max(1, created)
  const range = storedFor(ledger, 'transfers').find(
    ({ from_block, to_block }) => from_block <= first && to_block >= first,
  )
  return range?.to_block ?? null
}

const unavailable = (message: string): { figures: null; state: DataState } => ({
  figures: null,
  state: { status: 'unavailable', message },
})

/**
 * Who holds a stable at an instant, how concentrated its supply is, and how much of it has moved in the window before. Null
 * where that does not follow from the stored transfers; `state` says why.
 */
export async function holdersAt(clickhouse: ClickHouseClient, subject: Subject, options: { signal: QuerySignal }) {
  const { stable, created, at, window, contracts } = subject
  const to_block = lastWholeBlock(subject)
  if (to_block === null)
    return unavailable('Who holds the stable is known only if every transfer since its creation is stored.')
  const [kept, unexplained] = await Promise.all([
    newestSnapshot(clickhouse, { stable, at }, options),
    created === 0 ? unexplainedSupply(clickhouse, { stable, at }, options) : '0',
  ])
  if (unexplained !== '0')
    return unavailable('The stable had a supply before its first transfer, and no log says who held it.')
  const snapshot = kept ?? NO_SNAPSHOT
  const from = Math.max(0, at.getTime() / 1000 - HOLDER_WINDOWS[window] * DAY_SECONDS)
  const snapshotKey = { stable, at, to_block, from, slot_at: snapshot.slot_at, snapshot_id: snapshot.snapshot_id }
  const [sums, rest, moved] = await Promise.all([
    holderSums(clickhouse, snapshotKey, options),
    sumsWithoutContracts(clickhouse, { ...snapshotKey, contracts: [...CUSTODIANS, ...contracts] }, options),
    transferSums(clickhouse, snapshotKey, options),
  ])
  const supply = BigInt(sums.sum)
  if (supply !== BigInt(snapshot.supply) + BigInt(moved.minted_since))
    return unavailable('The balances do not add up to what was minted and not burned.')
  const top = sums.top.map(({ address, balance }, i) => ({
    rank: i + 1,
    address,
    balance,
    balance_tokens: asTokens(BigInt(balance)),
    share_pct: divided(100n * BigInt(balance), supply),
  }))
  const shareOf = (holders: number): number | null =>
    quotient(100n * top.slice(0, holders).reduce((sum, { balance }) => sum + BigInt(balance), 0n), supply)
  const transferred = BigInt(moved.transferred)
  // The integral of the supply over the window: what was minted in it was not there before.
  const seconds = BigInt(at.getTime() / 1000 - from)
  const supplySeconds = supply * seconds - BigInt(moved.minted_seconds)
  const [gains, losses] = [BigInt(sums.gains), BigInt(sums.losses)]
  const figures = {
    holder_count: sums.holder_count,
    supply: `${supply}`,
    supply_tokens: asTokens(supply),
    ...concentration(sumsOf(sums)),
    top_10_pct: shareOf(10),
    top_100_pct: shareOf(100),
    without_contracts: {
      holder_count: rest.holder_count,
      supply: rest.sum,
      supply_tokens: asTokens(BigInt(rest.sum)),
      ...concentration(sumsOf(rest)),
    },
    top_holders: top,
    activity: {
      window,
      transfer_count: moved.transfer_count,
      transferred: moved.transferred,
      transferred_tokens: asTokens(transferred),
      velocity: quotient(transferred * seconds, supplySeconds),
      velocity_a_year: quotient(
        transferred * seconds * BigInt(DAYS_A_YEAR),
        supplySeconds * BigInt(HOLDER_WINDOWS[window]),
      ),
      turnover_pct: quotient(100n * (gains < losses ? gains : losses) * seconds, supplySeconds),
      new_holders: sums.new_holders,
      leaving_holders: sums.leaving_holders,
    },
  }
  const state: DataState = { status: 'complete', message: 'Every transfer since the creation of the stable is stored.' }
  return { figures, state }
}
