import { heldIn } from './held.js'
import { newestSlot } from './in-use.js'
import type { SnapshotFacts } from './snapshot-facts.js'

const DAY = 86_400
const UNCAPPED = 340282366920938463463374607431768211455n

export type Break = { startedAt: number; endedAt: number | null }
export type Breaks = { mild: Break[]; severe: Break[] }

/** The peg breaks of a stable that are known at `at`: outside for long enough, sample by sample. */
function breaksIn(
  samples: readonly { t: number; sell_micros: number | null }[],
  at: number,
  { limitMicros, leastSeconds }: { limitMicros: number; leastSeconds: number },
): Break[] {
  const breaks: Break[] = []
  let started: number | null = null
  let newestOutside = 0
  for (const { t, sell_micros } of samples) {
    if (t > at || sell_micros === null) continue
    if (Math.abs(sell_micros - 1_000_000) > limitMicros) {
      started ??= t
      newestOutside = t
    } else if (started !== null) {
      if (t - started >= leastSeconds) breaks.push({ startedAt: started, endedAt: t })
      started = null
    }
  }
  if (started !== null && newestOutside - started >= leastSeconds) breaks.push({ startedAt: started, endedAt: null })
  return breaks
}

/** The peg breaks of a stable, from its samples. */
export function breaksAt({ samples }: SnapshotFacts, stable: string, at: number): Breaks {
  const samplesOfStable = samples.get(stable) ?? []
  return {
    mild: breaksIn(samplesOfStable, at, { limitMicros: 1000, leastSeconds: 300 }),
    severe: breaksIn(samplesOfStable, at, { limitMicros: 5000, leastSeconds: 60 }),
  }
}

export const points = (score: number): number => Math.floor(Math.max(0, Math.min(100, score)) * 100 + 0.5) / 100

type Quote = { t: number; status: string; sell_micros: number | null }

const isUnquoted = ({ sell_micros }: Quote): boolean => sell_micros === null

/** The prices of the day before an instant in millionths, and for how many seconds each held; null without a quote. */
export const pricesOfDay = (samples: readonly Quote[], at: number): { micros: number | null; seconds: number }[] =>
  heldIn(samples, ({ t }) => t, { at, length: DAY, most: 120 }).map(({ state, seconds }) => ({
    micros: state.sell_micros,
    seconds,
  }))

export const totalSeconds = (held: readonly { seconds: number }[]): number =>
  held.reduce((sum, { seconds }) => sum + seconds, 0)

function pegRisk(samples: readonly Quote[], at: number): number {
  const prices = pricesOfDay(samples, at)
  const all = totalSeconds(prices)
  if (all === 0) return 100
  const quoted = prices.flatMap(({ micros, seconds }) => (micros === null ? [] : [{ d: micros - 1_000_000, seconds }]))
  const n = BigInt(totalSeconds(quoted))
  const sum = quoted.reduce((total, { d, seconds }) => total + BigInt(d * seconds), 0n)
  const aroundMean = quoted.reduce((total, { d, seconds }) => total + BigInt(seconds) * (n * BigInt(d) - sum) ** 2n, 0n)
  // To four decimals of a basis point, as in the window of average prices.
  const s = n === 0n ? 0 : Math.floor(100 * Math.sqrt(Number(aroundMean) / Number(n ** 3n)) + 0.5) / 1e4
  const d = Math.max(0, ...quoted.map((price) => Math.abs(price.d))) / 100
  const u = Math.ceil((1e6 * (all - Number(n))) / all) / 1e6
  const w = Math.max(200, d)
  const sigma = u === 0 ? s : Math.sqrt((1 - u) * s * s + u * w * w)
  const worst = d + Math.min(1, u * 1440) * (w - d)
  return points(100 - 100 * Math.exp(-(2 * sigma + worst) / 60))
}

/** For how long the newest samples have been unquoted, in seconds; 0 if the newest is not. */
export function unquotedSeconds(samples: readonly Quote[], at: number): number {
  const samplesUntil = samples.filter(({ t }) => t <= at)
  const first = samplesUntil[samplesUntil.findLastIndex((sample) => !isUnquoted(sample)) + 1]
  return first === undefined ? 0 : at - first.t
}

/**
 * "Lost" of the methodology: whether the newest samples have been unquoted for 60 seconds or longer; not known without a
 * sample in 24 hours. A stable whose newest sample is `not_usd` has no quote to lose.
 */
function isLost(samples: readonly Quote[], at: number): boolean {
  const samplesUntil = samples.filter(({ t }) => t <= at)
  if (samplesUntil.at(-1)?.status === 'not_usd') return false
  return unquotedSeconds(samples, at) >= 60 && samplesUntil.some(({ t }) => t > at - DAY)
}

/** Which kinds of breaks are open, and how many were under way in the last week. */
export function breakCounts({ mild, severe }: Breaks, at: number) {
  const recent = (breaks: Break[]): number =>
    breaks.filter(({ endedAt }) => endedAt === null || endedAt > at - 7 * DAY).length
  const isOpen = (breaks: Break[]): boolean => breaks.some(({ endedAt }) => endedAt === null)
  return {
    has_open_mild: isOpen(mild),
    has_open_severe: isOpen(severe),
    mild_events_7d: recent(mild),
    severe_events_7d: recent(severe),
  }
}

function pegBreakRisk(breaks: Breaks, at: number, lost: boolean): number {
  const { has_open_mild, has_open_severe, mild_events_7d, severe_events_7d } = breakCounts(breaks, at)
  const open = lost || has_open_severe ? 70 : has_open_mild ? 40 : 0
  return points(open + 5 * mild_events_7d + 15 * (severe_events_7d + (lost ? 1 : 0)))
}

export const BASE: Record<string, number> = {
  allow_all: 10,
  blacklist: 30,
  whitelist: 40,
  compound: 50,
  reject_all: 100,
  unknown: 100,
}

export function policyEventsOf(
  { policyEvents }: SnapshotFacts,
  stable: string,
  policyId: string | null,
  at: number,
): number {
  const eventsUntil = policyEvents.filter(({ t }) => t <= at)
  const compound = eventsUntil.find((event) => event.kind === 'compound_created' && event.policy_id === policyId)
  const ids = new Set([
    policyId,
    ...(compound ? [compound.sender_policy_id, compound.recipient_policy_id, compound.mint_recipient_policy_id] : []),
  ])
  return eventsUntil.filter(
    (event) =>
      event.t > at - 7 * DAY &&
      (event.kind === 'token_policy' ? event.stable === stable : event.policy_id !== null && ids.has(event.policy_id)),
  ).length
}

/**
 * The risk of a stable as of an instant, by the definition; null before the first snapshot, which is of the first slot at
 * which it is in use. The peg breaks known by then are computed from the samples, or come from `breaksOf`.
 */
export function riskAt(facts: SnapshotFacts, stable: string, asOf: number, breaksOf = breaksAt) {
  const created = facts.stables.find((row) => row.stable === stable)
  const at = created ? newestSlot(created, facts, asOf, 300) : null
  if (at === null || at <= facts.start) return null
  const samples = facts.samples.get(stable) ?? []
  const state = (facts.states.get(stable) ?? []).findLast(({ t }) => t <= at)
  const cap = BigInt(state?.cap_raw ?? 0)
  const peg_risk = pegRisk(samples, at)
  const peg_break_risk = pegBreakRisk(breaksOf(facts, stable, at), at, isLost(samples, at))
  const mintable = cap - BigInt(state?.supply_raw ?? 0)
  const supply_risk =
    !state || cap === UNCAPPED ? 100 : mintable <= 0n ? 0 : points((100 * Number(mintable)) / Number(cap))
  const base = !state ? 100 : state.paused ? 100 : (BASE[state.policy_type] ?? Number.NaN)
  const policy_risk = points(base + 5 * policyEventsOf(facts, stable, state?.policy_id ?? null, at))
  return {
    composite: 0.4 * peg_risk + 0.3 * peg_break_risk + 0.2 * supply_risk + 0.1 * policy_risk,
    components: { peg_risk, peg_break_risk, supply_risk, policy_risk },
    computed_at: new Date(at * 1000).toISOString(),
  }
}
