import type { PegSample } from './facts.js'

/**
 * Starts of the buckets in [from, to) that contain or follow the first block, at `oldest`, and end before the newest
 * one, at `newest`.
 */
export function bucketStarts(seconds: number, from: number, to: number, oldest: number, newest: number): number[] {
  const starts: number[] = []
  for (let start = Math.floor(from / seconds) * seconds; start < to; start += seconds) {
    if (start >= from && start + seconds >= oldest && start + seconds < newest) starts.push(start)
  }
  return starts
}

const iso = (time: number): string => new Date(time * 1000).toISOString().replace('.000', '')

const bounds = (start: number, seconds: number) => ({ bucket_start: iso(start), bucket_end: iso(start + seconds) })

/** To 8 decimals, halves up, in integers. */
function meanPrice(prices: readonly number[]): number {
  const sum = prices.reduce((total, price) => total + BigInt(price), 0n)
  const n = BigInt(prices.length)
  return Number((200n * sum + n) / (2n * n)) / 1e8
}

/** A stable's price in (start, start + seconds], from its samples in the order of their blocks. */
export function pegBucket(samples: readonly PegSample[], start: number, seconds: number) {
  const inside = samples.filter(({ block_time }) => block_time > start && block_time <= start + seconds)
  const quoted = inside.flatMap((sample) =>
    sample.sell_micros === null ? [] : [{ ...sample, price: sample.sell_micros }],
  )
  const secondsOutside = (micros: number): number =>
    quoted
      .filter(({ price }) => Math.abs(price - 1_000_000) > micros)
      .reduce((sum, sample) => sum + Math.min(sample.elapsed_seconds, sample.block_time - start), 0)
  const prices = quoted.map(({ price }) => price)
  const isMeasured = prices.length > 0
  const inTokens = (price: number | undefined) => (price === undefined ? null : price / 1e6)
  return {
    ...bounds(start, seconds),
    open: inTokens(prices[0]),
    high: isMeasured ? Math.max(...prices) / 1e6 : null,
    low: isMeasured ? Math.min(...prices) / 1e6 : null,
    close: inTokens(prices.at(-1)),
    mean: isMeasured ? meanPrice(prices) : null,
    seconds_outside_10bps: isMeasured ? secondsOutside(1000) : null,
    seconds_outside_50bps: isMeasured ? secondsOutside(5000) : null,
    sample_count: prices.length,
    unquoted_count: inside.length - prices.length,
  }
}

/** A stable's supply at start + seconds, and its changes after start, from its states and events, oldest first. */
export function supplyBucket(
  states: readonly { block_time: number; supply_raw: string; cap_raw: string }[],
  events: readonly { block_time: number; kind: string; amount_raw: string }[],
  start: number,
  seconds: number,
) {
  const state = states.findLast(({ block_time }) => block_time <= start + seconds)
  const inside = events.filter(({ block_time }) => block_time > start && block_time <= start + seconds)
  const sum = (kinds: readonly string[]): string =>
    inside
      .filter(({ kind }) => kinds.includes(kind))
      .reduce((total, { amount_raw }) => total + BigInt(amount_raw), 0n)
      .toString()
  const cap = state && state.cap_raw !== String(2n ** 128n - 1n) ? state.cap_raw : null
  return {
    ...bounds(start, seconds),
    supply: state?.supply_raw ?? null,
    cap,
    minted: sum(['mint']),
    burned: sum(['burn', 'burn_blocked', 'burn_at']),
  }
}

type Score = string | number
type Snapshot = {
  slot_at: number
  composite: Score
  peg_risk: Score
  peg_break_risk: Score
  supply_risk: Score
  policy_risk: Score
  methodology?: string
  revision?: number
  published_at?: string
  extended?: Score
  extended_version?: string
}

/** A stable's risk as of start + seconds, and its range after start, from its snapshots, oldest first. */
export function riskBucket(snapshots: readonly Snapshot[], start: number, seconds: number) {
  const newest = snapshots.findLast(({ slot_at }) => slot_at <= start + seconds)
  const inside = snapshots.filter(({ slot_at }) => slot_at > start && slot_at <= start + seconds)
  const scores = inside.map(({ composite }) => Number(composite))
  const figure = (text: Score | undefined) => (text === undefined ? null : Number(text))
  return {
    ...bounds(start, seconds),
    composite: figure(newest?.composite),
    peg_risk: figure(newest?.peg_risk),
    peg_break_risk: figure(newest?.peg_break_risk),
    supply_risk: figure(newest?.supply_risk),
    policy_risk: figure(newest?.policy_risk),
    methodology: newest?.methodology ?? null,
    revision: newest?.revision ?? null,
    published_at: newest?.published_at ? new Date(Number(newest.published_at) * 1000).toISOString() : null,
    composite_min: scores.length > 0 ? Math.min(...scores) : null,
    composite_max: scores.length > 0 ? Math.max(...scores) : null,
    snapshot_count: inside.length,
    extended: figure(newest?.extended),
    extended_version: newest?.extended_version ?? null,
  }
}
