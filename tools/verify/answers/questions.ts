import { averagesAt } from '../../../oracle/averages.js'
import { depthAt } from '../../../oracle/depth.js'
import { extendedRiskAt } from '../../../oracle/extended-risk.js'
import { feesAt } from '../../../oracle/fees.js'
import { flowAnomaliesOracle, type OracleAnomaly } from '../../../oracle/flow-anomalies.js'
import { holdersAt } from '../../../oracle/holders.js'
import { issuanceAt } from '../../../oracle/issuance.js'
import { liquidityAt } from '../../../oracle/liquidity.js'
import { type BreakFilter, passesFilter, pegEventsOracle } from '../../../oracle/peg-events.js'
import { agreedBreaksOracle } from '../../../oracle/peg-tracks.js'
import { expectedWindows, LONGEST_WINDOW } from '../../../oracle/peg-windows.js'
import { reservesAt } from '../../../oracle/reserves.js'
import { rewardsAt } from '../../../oracle/rewards.js'
import { riskAt } from '../../../oracle/risk.js'
import { rolesAt } from '../../../oracle/roles.js'
import { iso } from '../../../oracle/rows.js'
import { stablecoinsAt, supplyEventsAt } from '../../../oracle/stablecoins.js'
import type { ChainFacts } from './chain-facts.js'

export type Body = Record<string, unknown>

/** A request and what the facts of the chain give for it. */
export type Question = {
  /** Below /api/v1/. */
  path: string
  query: Record<string, string | number>
  /** null: there is no answer yet, which is a 404. */
  expected: unknown
  /** What is compared of the body; all of it if omitted. */
  read?: (body: Body) => unknown
  /** If it has pages: the parameters of the next one, null after the last. Their bodies are the body's `pages`. */
  nextPage?: (query: Question['query'], pages: readonly Body[]) => Question['query'] | null
  /** Why the figures of the answer cannot be computed. It is counted apart. */
  apart?: string
}

/**
 * What a question is made of: an instant, a stable that exists by then, how far its kind's jobs have come, and a number
 * below `n` for all else.
 */
export type Subject = {
  facts: ChainFacts
  stable: string
  at: number
  horizons: readonly number[]
  pick: (n: number) => number
}

/** The jobs of whose results an answer consists, if it is not made of facts alone. */
export type Kind = { name: string; jobs?: readonly string[]; ask: (subject: Subject) => Question }

/** The formats of a range. */
export const FORMATS = ['json', 'ndjson', 'csv', 'parquet', 'arrow'] as const

/** The part of a list's rows whose times lie in (from, to], without going through all of them. */
export function between<Row extends { block_time: number }>(rows: readonly Row[], from: number, to: number): Row[] {
  const firstAfter = (time: number): number => {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const mid = (low + high) >> 1
      if ((rows[mid] as Row).block_time > time) high = mid
      else low = mid + 1
    }
    return low
  }
  return rows.slice(firstAfter(from), firstAfter(to))
}

const about = (what: string, { stable, at }: Subject, expected: unknown): Question => ({
  path: `stablecoins/${stable}/${what}`,
  query: { as_of: iso(at) },
  expected,
})

/** A filter of breaks; none of two questions in three. */
export function randomBreakFilter(pick: Subject['pick']): BreakFilter {
  if (pick(3) > 0) return {}
  const severity = ([undefined, 'mild', 'severe'] as const)[pick(3)]
  const min_size = ([undefined, 1, 1000, 1001, 10_000, 1_000_000] as const)[pick(6)]
  const limits = { min_bps: (1 + pick(8000)) / 100, min_seconds: 1 + pick(600) }
  return { ...(severity && { severity }), ...limits, ...(min_size && { min_size }) }
}

const samplesOf = ({ facts, stable }: Subject) => facts.samples.get(stable) ?? []

/** All anomalies of the chain's facts, computed once: the lists are parts of this one. */
const anomalies = new WeakMap<ChainFacts, OracleAnomaly[]>()
export function allAnomalies(facts: ChainFacts): OracleAnomaly[] {
  const computed =
    anomalies.get(facts) ?? flowAnomaliesOracle(facts.flows, facts.times[0] ?? 0, facts.times.at(-1) ?? 0)
  anomalies.set(facts, computed)
  return computed
}

const RISK_PERIOD = 300

/** The results of a computation about a stable and a slot, each made once. */
function oncePerSlot<Score>(compute: (facts: ChainFacts, stable: string, at: number) => Score) {
  const scoresOf = new WeakMap<ChainFacts, Map<string, Score>>()
  return (facts: ChainFacts, stable: string, at: number): Score => {
    const scores = scoresOf.get(facts) ?? new Map<string, Score>()
    scoresOf.set(facts, scores)
    const key = `${stable} ${Math.floor(at / RISK_PERIOD)}`
    if (!scores.has(key)) scores.set(key, compute(facts, stable, at))
    return scores.get(key) as Score
  }
}

/** The score of a stable as of an instant. */
export const scoreAt = oncePerSlot((facts, stable, at) => riskAt(facts.snapshot, stable, at))

/** Its extended score. */
export const extendedAt = oncePerSlot(({ snapshot, depth, transfers, stored }, stable, at) =>
  extendedRiskAt(
    { snapshot, depth: depth.get(stable) ?? [], transfers: transfers.get(stable) ?? [], stored },
    stable,
    at,
  ),
)

/** An extended score as the definition has it: without what would change it and the words, its inputs by name. */
export function extendedOf({ extended }: Body): unknown {
  const { message: _, missing, components, ...figures } = extended as Body & { missing: string[]; components: Body[] }
  return {
    ...figures,
    missing: missing.toSorted(),
    components: components.map(({ raised_most_by: _, lowered_most_by: __, inputs, ...component }) => ({
      ...component,
      inputs: Object.fromEntries(
        (inputs as { name: string; value: unknown }[]).map(({ name, value }) => [name, value]),
      ),
    })),
  }
}

/** One kind for each route that is about a stable or an instant. */
export const SNAPSHOT_KINDS: readonly Kind[] = [
  {
    name: 'list of stables',
    ask: ({ facts, at }) => ({
      path: 'stablecoins',
      query: { as_of: at },
      expected: { stablecoins: stablecoinsAt(facts.economy, at) },
    }),
  },
  {
    name: 'single stable',
    ask: ({ facts, stable, at }) => ({
      path: `stablecoins/${stable}`,
      query: { as_of: at },
      expected: {
        ...stablecoinsAt(facts.economy, at).find(({ address }) => address === stable),
        recent_supply_events: supplyEventsAt(facts.economy, stable, at),
        role_holders: { roles: rolesAt(facts.economy, stable, at) },
      },
    }),
  },
  {
    name: 'peg',
    ask: (subject) => {
      const { stable, at } = subject
      const samples = between(samplesOf(subject), at - LONGEST_WINDOW, at)
      return about('peg', subject, { address: stable, windows: expectedWindows(samples, at) })
    },
  },
  {
    name: 'peg averages',
    ask: (subject) => {
      const { facts, stable, at } = subject
      const samples = between(samplesOf(subject), at - LONGEST_WINDOW - 120, at)
      const fills = between(facts.fills.get(stable) ?? [], at - LONGEST_WINDOW, at)
      return about('peg/averages', subject, { windows: averagesAt(samples, fills, facts.priceOf, at) })
    },
  },
  {
    name: 'peg events',
    jobs: ['peg-events'],
    ask: (subject) => {
      const filter = randomBreakFilter(subject.pick)
      const depth = subject.facts.depth.get(subject.stable) ?? []
      const events = pegEventsOracle(samplesOf(subject), subject.at, depth).filter((event) =>
        passesFilter(event, filter),
      )
      const question = about('peg-events', subject, { events: events.slice(0, 500) })
      return { ...question, query: { ...question.query, ...filter, limit: 500 } }
    },
  },
  {
    name: 'agreed breaks',
    jobs: ['peg-tracks'],
    ask: (subject) => {
      const { min_size: _, ...filter } = randomBreakFilter(subject.pick)
      const depth = subject.facts.depth.get(subject.stable) ?? []
      const events = agreedBreaksOracle(samplesOf(subject), depth, subject.at).filter((event) =>
        passesFilter(event, filter),
      )
      const question = about('peg-events', subject, { events: events.slice(0, 500) })
      return { ...question, query: { ...question.query, ...filter, track: 'agreed', limit: 500 } }
    },
  },
  {
    name: 'depth',
    ask: (subject) => {
      const depth = subject.facts.depth.get(subject.stable) ?? []
      return about('depth', subject, depthAt(depth, samplesOf(subject), subject.at))
    },
  },
  {
    name: 'liquidity',
    ask: (subject) => {
      const { facts, stable, at } = subject
      const stableFacts = {
        depth: facts.depth.get(stable) ?? [],
        states: facts.states.get(stable) ?? [],
        quotedIn: facts.quotedIn,
      }
      return about('liquidity', subject, liquidityAt(stableFacts, stable, at))
    },
  },
  {
    name: 'rewards',
    ask: (subject) => about('rewards', subject, rewardsAt(subject.facts.economy, subject.stable, subject.at)),
  },
  {
    name: 'issuance',
    ask: (subject) => about('issuance', subject, issuanceAt(subject.facts, subject.stable, subject.at)),
  },
  {
    name: 'holders',
    ask: (subject) => {
      const { facts, stable, at, pick } = subject
      const window = (['24h', '7d', '30d'] as const)[pick(3)] ?? '24h'
      const limit = 1 + pick(100)
      const stableFacts = {
        transfers: facts.transfers.get(stable) ?? [],
        firstSupply: facts.states.get(stable)?.[0],
        created: facts.stables.find((row) => row.stable === stable),
        stored: facts.stored,
      }
      const question = about('holders', subject, holdersAt(stableFacts, { stable, at, window, limit }))
      return { ...question, query: { ...question.query, window, limit } }
    },
  },
  {
    name: 'roles',
    ask: (subject) => about('roles', subject, { roles: rolesAt(subject.facts.economy, subject.stable, subject.at) }),
  },
  {
    name: 'fee economics',
    ask: ({ facts, at }) => ({
      path: 'fee-economics/overview',
      query: { as_of: at },
      expected: feesAt(facts.economy, at),
    }),
  },
  {
    name: 'risk',
    jobs: ['risk'],
    ask: (subject) => {
      const { facts, stable, at } = subject
      const score = scoreAt(facts, stable, at)
      return about('risk', subject, score && { ...score, methodology: 'v3' })
    },
  },
  {
    name: 'extended risk',
    jobs: ['risk'],
    ask: (subject) => {
      const { facts, stable, at } = subject
      return {
        ...about('risk', subject, extendedAt(facts, stable, at)),
        read: (body) => (body.extended ? extendedOf(body) : body),
      }
    },
  },
  {
    name: 'reserves',
    jobs: ['reserves'],
    ask: (subject) => about('reserves', subject, reservesAt(subject.facts.snapshot, subject.stable, subject.at)),
  },
  {
    name: 'flow anomalies',
    jobs: ['flow-anomalies'],
    ask: ({ facts, at }) => ({
      path: 'stablecoins/flow-anomalies',
      query: { as_of: at, limit: 500 },
      expected: {
        anomalies: allAnomalies(facts)
          .filter(({ window_start }) => window_start <= iso(at))
          .slice(0, 500),
      },
    }),
  },
]
