import { type CoverageRequest, coverageAt, type StoredBlocks } from './coverage.js'
import type { DepthSample } from './facts.js'
import { heldIn } from './held.js'
import { balancesAfter, type HolderFacts, totalOf } from './holders.js'
import { newestSlot } from './in-use.js'
import { depthOf, lossOf, REFERENCE } from './liquidity.js'
import {
  BASE,
  breakCounts,
  breaksAt,
  points,
  policyEventsOf,
  pricesOfDay,
  totalSeconds,
  unquotedSeconds,
} from './risk.js'
import type { SnapshotFacts } from './snapshot-facts.js'

const HOUR = 3600
const DAY = 86_400
const WEEK = 604_800
const UNCAPPED = 340282366920938463463374607431768211455n
const SIZES = [1e3, 1e4, 1e5, 1e6]
const WEIGHTS = { peg: 25, breaks: 20, liquidity: 25, concentration: 10, issuance: 10, policy: 10 }

type Name = keyof typeof WEIGHTS
type Value = number | boolean | string | null
type Component = { score: number; inputs: Record<string, Value> }

/** The raw facts behind the extended score of one stable. */
export type ExtendedFacts = {
  snapshot: SnapshotFacts
  depth: readonly DepthSample[]
  transfers: HolderFacts['transfers']
  stored: StoredBlocks
}

/** As `value` is published with so many decimals. */
const decimals = (value: number, n: number): number => Number((Math.floor(value * 10 ** n + 0.5) / 10 ** n).toFixed(n))

const clip = (value: number): number => Math.min(1, Math.max(0, value))

/** Whether nothing of a family is missing in (from, to] since a stable was created. */
const isWhole = (stored: StoredBlocks, request: Omit<CoverageRequest, 'families'>, family: string): boolean =>
  coverageAt(stored, { ...request, from: request.from + 1, families: [family] }, 1).missing_count === 0

/** By how many base units less than 1,000 a thousand tokens sold, and for how many seconds of the day; 20 % less without a quote. */
const shortfallsOfDay = (depth: readonly DepthSample[], at: number) =>
  heldIn(
    depth.filter(
      ({ size_tokens, sell_status }) =>
        size_tokens === 1e3 && !['failed', 'out_of_range', 'too_deep'].includes(`${sell_status}`),
    ),
    ({ block_time }) => block_time,
    { at, length: DAY, most: 420 },
  ).map(({ state, seconds }) => ({
    shortfall: state.sell_raw === null ? 2e8 : Math.max(0, Number(lossOf('sell', state))),
    seconds,
  }))

/**
 * The mean of the worst fortieth of the time, as Rockafellar and Uryasev have it: the least of v + 40 E[(x - v)+], which is at one of the
 * values of x.
 */
function worstFortieth(held: readonly { shortfall: number; seconds: number }[]): number {
  const excessOver = (v: number): number =>
    held.reduce((sum, { shortfall, seconds }) => sum + seconds * Math.max(0, shortfall - v), 0)
  const n = totalSeconds(held)
  return [...new Set(held.map(({ shortfall }) => shortfall))].reduce(
    (least, v) => Math.min(least, (v * n + 40 * excessOver(v)) / n),
    Number.POSITIVE_INFINITY,
  )
}

function pegOf({ snapshot, depth }: ExtendedFacts, stable: string, at: number, isKnown: boolean): Component {
  const prices = pricesOfDay(snapshot.samples.get(stable) ?? [], at)
  const all = totalSeconds(prices)
  if (!isKnown || all === 0) return { score: 100, inputs: { rms_bps_24h: null, shortfall_bps_24h: null } }
  const squares = prices.reduce((sum, { micros, seconds }) => {
    const distance = micros === null ? 200_000n : BigInt(micros) - 1_000_000n
    return sum + BigInt(seconds) * distance * distance
  }, 0n)
  const rms_bps_24h = decimals(Math.sqrt(Number(squares) / all) / 100, 4)
  const shortfalls = shortfallsOfDay(depth, at)
  const covered = totalSeconds(shortfalls)
  const shortfall_bps_24h = covered > 0 && covered + 420 >= all ? decimals(worstFortieth(shortfalls) / 1e5, 4) : null
  const score = points(100 - 100 * Math.exp(-(rms_bps_24h + (shortfall_bps_24h ?? 2000)) / 60))
  return { score, inputs: { rms_bps_24h, shortfall_bps_24h } }
}

function breaksOfWeek(
  facts: ExtendedFacts,
  stable: string,
  at: number,
  isKnown: boolean,
  breaksOf: typeof breaksAt,
): Component {
  if (!isKnown) {
    const unknown = { has_open_mild: null, has_open_severe: null, unquoted_seconds: null }
    return { score: 100, inputs: { ...unknown, mild_events_7d: null, severe_events_7d: null } }
  }
  const counts = breakCounts(breaksOf(facts.snapshot, stable, at), at)
  const unquoted_seconds = unquotedSeconds(facts.snapshot.samples.get(stable) ?? [], at)
  const isLost = unquoted_seconds >= 60
  const open = isLost || counts.has_open_severe ? 70 : counts.has_open_mild ? 40 : 0
  const events = 5 * counts.mild_events_7d + 15 * (counts.severe_events_7d + Number(isLost))
  return { score: points(open + events), inputs: { ...counts, unquoted_seconds } }
}

function liquidityOf({ depth }: ExtendedFacts, at: number, supply: bigint | null, isKnown: boolean): Component {
  const newest = depth.findLast(({ block_time }) => block_time <= at)
  const rows =
    isKnown && newest && newest.block_time > at - HOUR
      ? depth.filter(({ block_number }) => block_number === newest.block_number)
      : []
  const sizes = SIZES.filter((size) => size === 1e3 || supply === null || BigInt(size) * 10n ** 6n <= supply)
  const costs = sizes.map((size): number | null => {
    const row = rows.find(({ size_tokens }) => size_tokens === size)
    if (!row || supply === null || ['failed', 'out_of_range', 'too_deep'].includes(row.sell_status)) return null
    const loss = lossOf('sell', row)
    return loss === null ? 1e4 : decimals((1e4 * Number(loss)) / (size * 1e6), 4)
  })
  let exit_share: number | null = null
  if (supply !== null && rows.length > 0) {
    const { tokens, at_least_tokens } = depthOf('sell', rows, 50)
    const sold = tokens ?? at_least_tokens ?? 0
    exit_share = decimals(sold === 0 ? 0 : Math.min(1, sold / (Number(supply) / 1e6)), 8)
  }
  // -1 and -4 on the scale of tens.
  const ofShare = exit_share === null || exit_share === 0 ? 1 : clip((-1 - Math.log10(exit_share)) / 3)
  const ofCosts = costs.map((cost) => (cost === null ? 1 : clip(cost / 100))).reduce((a, b) => a + b, 0) / costs.length
  const inputs = Object.fromEntries(costs.map((cost, i) => [`exit_cost_bps_${sizes[i]}`, cost]))
  return { score: points(50 * ofShare + 50 * ofCosts), inputs: { exit_share, ...inputs } }
}

function concentrationOf(facts: ExtendedFacts, at: number, supply: bigint | null, isKnown: boolean): Component {
  const balances = balancesAfter(facts.transfers.filter(({ block_time }) => block_time <= at))
  const sum = totalOf(balances)
  if (!isKnown || sum !== supply) return { score: 100, inputs: { hhi: null } }
  const squares = [...balances.values()].reduce((total, balance) => total + balance * balance, 0n)
  const hhi = sum === 0n ? 10_000 : decimals(Number((squares * 10n ** 34n) / (sum * sum)) / 1e30, 4)
  return { score: points(Math.sqrt(hhi)), inputs: { hhi } }
}

/** Whether any transfers of the day before an instant are stored: those of a block in it, or of the blocks around it. */
function tracksHolders(stored: StoredBlocks, at: number): boolean {
  for (let block = 1; block <= stored.last; block++) {
    const time = stored.timeOf(block)
    if (time === null || !stored.isStored('transfers', block)) continue
    const next = stored.isStored('transfers', block + 1) ? (stored.timeOf(block + 1) ?? 0) : 0
    if (time <= at && (time > at - DAY || next > at)) return true
  }
  return false
}

/**
 * The extended risk of a stable as of an instant, by the definition; null before the first snapshot. Without what would change
 * it, and without words.
 */
export function extendedRiskAt(facts: ExtendedFacts, stable: string, asOf: number, breaksOf = breaksAt) {
  const { snapshot, stored } = facts
  const created = snapshot.stables.find((row) => row.stable === stable)
  const at = created ? newestSlot(created, snapshot, asOf, 300) : null
  if (!created || at === null || at <= snapshot.start) return null
  const since = { block_number: Number(created.block_number), block_time: created.t }
  const wholeFor = (seconds: number) => ({ stable, since, from: at - seconds, to: at })
  const isDaySampled = isWhole(stored, wholeFor(DAY), 'pegs')
  const isWeekSampled = isWhole(stored, wholeFor(WEEK), 'pegs')
  const newest = (snapshot.states.get(stable) ?? []).findLast(({ t }) => t <= at)
  const state = newest && isWhole(stored, { stable, since, from: newest.t, to: at }, 'state') ? newest : undefined
  const supply = state ? BigInt(state.supply_raw) : null
  const cap = BigInt(state?.cap_raw ?? 0)
  const headroom_share = !state
    ? null
    : cap === UNCAPPED
      ? 1
      : cap <= (supply ?? 0n)
        ? 0
        : decimals(Number(cap - (supply ?? 0n)) / Number(cap), 6)
  // The events of the policy that the stable was last known to have.
  const policyEvents = policyEventsOf(snapshot, stable, newest?.policy_id ?? null, at)
  const policy_events_7d = isWhole(stored, wholeFor(WEEK), 'logs') ? policyEvents : null
  const base = !state || state.paused ? 100 : (BASE[state.policy_type] ?? Number.NaN)
  const isUsd = created.currency === 'USD'
  const components: Record<Name, Component> = {
    peg: pegOf(facts, stable, at, isUsd && isDaySampled),
    breaks: breaksOfWeek(facts, stable, at, isUsd && isWeekSampled, breaksOf),
    liquidity: liquidityOf(facts, at, supply, isWhole(stored, wholeFor(HOUR), 'pegs')),
    concentration: concentrationOf(facts, at, supply, isWhole(stored, { stable, since, from: 0, to: at }, 'transfers')),
    issuance: { score: points(100 * (headroom_share ?? 1)), inputs: { headroom_share } },
    policy: {
      score: policy_events_7d === null ? 100 : points(base + 5 * policy_events_7d),
      inputs: { paused: state?.paused ?? null, policy_type: state?.policy_type ?? null, policy_events_7d },
    },
  }
  const left_out = [
    ...(stable === REFERENCE ? ['peg', 'breaks', 'liquidity'] : []),
    ...(tracksHolders(stored, at) ? [] : ['concentration']),
  ]
  const names = (Object.keys(WEIGHTS) as Name[]).filter((name) => !left_out.includes(name))
  const weights = names.reduce((sum, name) => sum + WEIGHTS[name], 0)
  // In integers: a half that is to be rounded is not one of floats.
  const hundredths = names.reduce((sum, name) => sum + WEIGHTS[name] * Math.round(100 * components[name].score), 0)
  const missing = names.flatMap((name) =>
    Object.entries(components[name].inputs).flatMap(([k, v]) => (v === null ? [k] : [])),
  )
  return {
    score: Math.floor((20 * hundredths + weights) / (2 * weights)) / 1000,
    version: 'e3',
    is_complete: missing.length === 0,
    missing: missing.toSorted(),
    left_out,
    components: names.map((name) => ({
      name,
      score: components[name].score,
      weight: WEIGHTS[name] / weights,
      inputs: components[name].inputs,
    })),
  }
}
