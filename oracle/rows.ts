/** A stored row with its time in Unix seconds. Wide integers are decimal strings. */
export type Raw = Record<string, string | number | boolean | null> & {
  block_number: number
  log_index: number
  at: number
}

/** The tables from which the answers about stables, rewards, roles and fees are computed. */
export const ECONOMY_TABLES = [
  'stablecoins',
  'dex_pairs',
  'reward_distributions',
  'reward_recipients',
  'state_reads',
  'fee_elections',
  'fee_distributions',
  'role_events',
  'role_probes',
  'supply_events',
  'peg_samples',
] as const

/** A token list and the second from which it holds, in Unix seconds. */
export type RecordedList = { sequence_number: number; holds_from: number; stables: readonly string[] }

/** All rows of these tables, each table in chain order, and the token lists in the order of their numbers. */
export type EconomyFacts = Record<(typeof ECONOMY_TABLES)[number], Raw[]> & { token_lists: RecordedList[] }

/** The rows up to an instant, optionally of one stable. */
export const until = (rows: readonly Raw[], at: number, stable?: string): Raw[] =>
  rows.filter((row) => row.at <= at && (stable === undefined || row.stable === stable))

export const sumOf = (rows: readonly Raw[]): bigint => rows.reduce((sum, row) => sum + BigInt(`${row.amount_raw}`), 0n)

/** Base units as tokens. */
export const asTokens = (raw: bigint): number => Number(raw) / 1e6

export const iso = (at: number): string => new Date(at * 1000).toISOString().replace('.000Z', 'Z')

/** The last ten, newest first. */
export const lastTen = (rows: readonly Raw[]): Raw[] => rows.slice(-10).reverse()
