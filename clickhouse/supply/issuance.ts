import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import { coverageOf, type DataState, withState } from '../chain/coverage.js'
import type { Ledger } from '../chain/ledger.js'
import { type Asked, FIRST_BLOCK, missingRanges } from '../chain/missing.js'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { SUPPLY_CHANGE_TEXT, SUPPLY_CHANGES, SupplyEventRow } from './supply.js'

/** The windows in the order of their lengths, which are in days. */
export const ISSUANCE_WINDOWS = [
  { window: '24h', days: 1 },
  { window: '7d', days: 7 },
  { window: '30d', days: 30 },
] as const

/** Days of the baseline of a burn surge, which ends where the last 24 hours begin. */
export const BASELINE_DAYS = 30

/** Whole days that a baseline needs: the mean of fewer says nothing. */
const LEAST_BASELINE_DAYS = 7

/** How far back the figures reach, in seconds: the last 24 hours and the baseline before them. */
export const ISSUANCE_SECONDS = (1 + BASELINE_DAYS) * DAY_SECONDS

const count = z.int().nonnegative()

const DayRow = z.object({ day: count, minted: integerText, burned: integerText, mint_count: count, burn_count: count })
type Day = z.infer<typeof DayRow>

/** What was minted and burned of a stable in (from, at]. */
const Period = z.object({ stable: z.string(), from: z.date(), at: z.date() })
const OF_PERIOD = `stable = {stable: String} AND block_time > {from: DateTime} AND block_time <= {at: DateTime} AND kind != 'cap'`

/**
 * What was minted and burned by day, in base units, counted back from `at`: day n is (at - (n + 1) days, at - n days]. No
 * row for a day without either.
 */
const issuanceByDay = defineQuery({
  name: 'issuance_by_day',
  params: Period,
  row: DayRow,
  sql: `
    SELECT toUInt32(intDiv(toUnixTimestamp({at: DateTime}) - toUnixTimestamp(block_time), ${DAY_SECONDS})) AS day,
           toString(sumIf(amount_raw, kind = 'mint')) AS minted, toString(sumIf(amount_raw, kind != 'mint')) AS burned,
           toUInt32(countIf(kind = 'mint')) AS mint_count, toUInt32(countIf(kind != 'mint')) AS burn_count
    FROM supply_events WHERE ${OF_PERIOD}
    GROUP BY day`,
})

export const LargestChange = z.object({
  ...SupplyEventRow.shape,
  kind: z.enum(SUPPLY_CHANGES).meta({ description: SUPPLY_CHANGE_TEXT }),
  account: z.string().meta({ description: 'The receiver of a mint, or the holder whose tokens were burned' }),
  amount: integerText.meta({ description: 'In base units: 6 decimals' }),
  amount_tokens: z.number().nonnegative().meta({ description: 'The same in whole tokens' }),
})

export type LargestChange = z.infer<typeof LargestChange>

/** The ten largest mints and the ten largest burns, together in descending order; of equal ones the newest first. */
const largestChanges = defineQuery({
  name: 'largest_supply_changes',
  params: Period,
  row: LargestChange,
  sql: `
    SELECT kind, account, toString(amount_raw) AS amount, toFloat64(amount_raw) / 1e6 AS amount_tokens,
           toUInt32(block_number) AS block_number, log_index, block_time AS block_timestamp, tx_hash
    FROM supply_events WHERE ${OF_PERIOD}
    ORDER BY amount_raw DESC, supply_events.block_number DESC, log_index DESC LIMIT 10 BY kind = 'mint'`,
})

const SupplyRow = z.object({ start: z.int(), supply: integerText, block_number: z.int(), read_at: z.int() })
type SupplyRead = z.infer<typeof SupplyRow>

/** For each of `starts`, a stable's newest supply by then, in base units, and when it was read; no row if it never was. */
const suppliesBefore = recentFirst(
  defineQuery({
    name: 'supplies_before',
    params: z.object({
      stable: z.string(),
      starts: z.array(z.date()),
      oldest: z.date(),
      newest: z.date(),
      recent_only: z.boolean(),
    }),
    row: SupplyRow,
    sql: `
    SELECT toUnixTimestamp(start) AS start, toString(supply_raw) AS supply, toUInt32(block_number) AS block_number,
           toUnixTimestamp(block_time) AS read_at
    FROM state_reads ARRAY JOIN {starts: Array(DateTime)} AS start
    WHERE stable = {stable: String} AND block_time <= {newest: DateTime} AND block_time <= start AND ${isRecent('block_time', 'oldest')}
    ORDER BY block_time DESC, state_reads.block_number DESC LIMIT 1 BY start`,
  }),
  (rows, { starts }) => rows.length === starts.length,
)

/** A stable, where it was made, an instant in whole seconds, and what is stored. */
type Subject = { stable: string; since: Asked['since']; at: Date; ledger: Ledger }

/** An amount in base units; null if it was not measured. */
type Amount = bigint | null

const asText = (raw: Amount): string | null => (raw === null ? null : `${raw}`)
const asTokens = (raw: Amount): number | null => (raw === null ? null : Number(raw) / 1e6)
const percentOf = (raw: Amount, supply: Amount): number | null =>
  raw === null || supply === null || supply === 0n ? null : (Number(raw) / Number(supply)) * 100

const seconds = (at: Date): number => at.getTime() / 1000
/** The instant some days before another; not before 1970, where a DateTime begins. */
const daysBefore = (at: Date, days: number): Date => new Date(Math.max(0, seconds(at) - days * DAY_SECONDS) * 1000)

const sumOf = (days: readonly Day[], column: 'minted' | 'burned'): bigint =>
  days.reduce((sum, day) => sum + BigInt(day[column]), 0n)
const countOf = (days: readonly Day[], column: 'mint_count' | 'burn_count'): number =>
  days.reduce((sum, day) => sum + day[column], 0)

/**
 * The supply at an instant, and the block at which it was read: the newest read by then, if every block since has been
 * read; 0 before the stable was made.
 */
function supplyAt(start: number, reads: readonly SupplyRead[], { stable, since, ledger }: Subject) {
  // What was there in the chain's first block is in no log, and was not 0 before it.
  if (since && since.block_time > start) return { supply: since.block_number < FIRST_BLOCK ? null : 0n, block: null }
  const read = reads.find((candidate) => candidate.start === start)
  const isKnown =
    read && missingRanges(ledger, { families: ['state'], stable, since, from: read.read_at, to: start }).length === 0
  return isKnown ? { supply: BigInt(read.supply), block: read.block_number } : { supply: null, block: null }
}

const UNKNOWN_SUPPLY: DataState = {
  status: 'partial',
  message: 'The supply at the start is not known: shares of it are null, and the change cannot be added to it.',
}

/** The figures of the window of `length` days that ends at the instant. */
function windowFigures(length: number, days: readonly Day[], reads: readonly SupplyRead[], subject: Subject) {
  const { stable, since, at, ledger } = subject
  const start = seconds(daysBefore(at, length))
  const coverage = coverageOf(ledger, {
    families: ['logs'],
    logsOf: ['token'],
    stable,
    since,
    from: start + 1,
    to: seconds(at),
  })
  const isMeasured = coverage.status !== 'unavailable'
  const inside = days.filter(({ day }) => day < length)
  const minted = isMeasured ? sumOf(inside, 'minted') : null
  const burned = isMeasured ? sumOf(inside, 'burned') : null
  const net = minted === null || burned === null ? null : minted - burned
  const { supply, block } = supplyAt(start, reads, subject)
  return {
    minted: asText(minted),
    minted_tokens: asTokens(minted),
    minted_pct: percentOf(minted, supply),
    burned: asText(burned),
    burned_tokens: asTokens(burned),
    burned_pct: percentOf(burned, supply),
    net_issuance: asText(net),
    net_issuance_tokens: asTokens(net),
    net_issuance_pct: percentOf(net, supply),
    mint_count: countOf(inside, 'mint_count'),
    burn_count: countOf(inside, 'burn_count'),
    supply_at_start: asText(supply),
    supply_at_start_tokens: asTokens(supply),
    supply_block_number: block,
    coverage: supply === null ? withState(coverage, UNKNOWN_SUPPLY) : coverage,
  }
}

/**
 * What was burned in the last 24 hours against the mean of a day in the 30 days before. Of these count the days that were
 * measured as a whole and began when the stable existed.
 */
function burnSurge(days: readonly Day[], last24h: string | null, { since, at, ledger }: Subject) {
  const now = seconds(at)
  const holes = missingRanges(ledger, { families: ['logs'], since, from: now - ISSUANCE_SECONDS + 1, to: now })
  const isWhole = (day: number): boolean => {
    const [start, end] = [now - (day + 1) * DAY_SECONDS, now - day * DAY_SECONDS]
    const isThere = since === undefined || since.block_time <= start
    return isThere && holes.every(({ from, to }) => to <= start || from > end)
  }
  const baseline = Array.from({ length: BASELINE_DAYS }, (_, i) => i + 1).filter(isWhole)
  const burned = sumOf(
    days.filter(({ day }) => baseline.includes(day)),
    'burned',
  )
  const isRatio = last24h !== null && burned > 0n && baseline.length >= LEAST_BASELINE_DAYS
  return {
    ratio: isRatio ? Number(BigInt(last24h) * BigInt(baseline.length)) / Number(burned) : null,
    baseline_days: baseline.length,
    baseline_burned: baseline.length === 0 ? null : `${burned}`,
    baseline_daily_tokens: baseline.length === 0 ? null : Number(burned) / baseline.length / 1e6,
  }
}

/** Whether the supplies are known of which the figures of windows are shares. */
function supplyState(windows: readonly { window: string; supply_at_start: string | null }[]): DataState {
  const unknown = windows.filter(({ supply_at_start }) => supply_at_start === null).map(({ window }) => window)
  if (unknown.length === 0)
    return { status: 'complete', message: 'From mints and burns; the supply before them was read from the chain.' }
  const message = `The supply at the start of ${unknown.join(', ')} is not known. Shares of it are null.`
  return { status: 'partial', message }
}

/**
 * What was minted and burned of a stable in the windows that end at an instant, each with its coverage; the burns of the
 * last 24 hours against those of the days before; and the largest mints and burns of 30 days. `state` says whether the
 * supplies are known of which figures are shares.
 */
export async function issuanceAt(clickhouse: ClickHouseClient, subject: Subject, options: { signal: QuerySignal }) {
  const { stable, at } = subject
  const starts = ISSUANCE_WINDOWS.map(({ days }) => daysBefore(at, days))
  const [newest, oldest] = [daysBefore(at, 1), daysBefore(at, 30)]
  const [days, largest, reads] = await Promise.all([
    issuanceByDay(clickhouse, { stable, from: daysBefore(at, 1 + BASELINE_DAYS), at }, options),
    largestChanges(clickhouse, { stable, from: oldest, at }, options),
    suppliesBefore(clickhouse, { stable, starts, oldest, newest }, options),
  ])
  const windows = ISSUANCE_WINDOWS.map(({ window, days: length }) => ({
    window,
    ...windowFigures(length, days, reads, subject),
  }))
  return {
    windows,
    burn_surge: burnSurge(days, windows[0]?.burned ?? null, subject),
    largest_mints: largest.filter(({ kind }) => kind === 'mint'),
    largest_burns: largest.filter(({ kind }) => kind !== 'mint'),
    state: supplyState(windows),
  }
}
