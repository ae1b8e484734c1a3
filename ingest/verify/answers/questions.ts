import { depthAt } from '../definitions/depth.js'
import { feesAt } from '../definitions/fees.js'
import { flowAnomaliesOracle, type OracleAnomaly } from '../definitions/flow-anomalies.js'
import { pegEventsOracle } from '../definitions/peg-events.js'
import { expectedWindows } from '../definitions/peg-windows.js'
import { reservesAt } from '../definitions/reserves.js'
import { rewardsAt } from '../definitions/rewards.js'
import { riskAt } from '../definitions/risk.js'
import { rolesAt } from '../definitions/roles.js'
import { iso } from '../definitions/rows.js'
import { stablecoinsAt, supplyEventsAt } from '../definitions/stablecoins.js'
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
}

/** What a question is made of: an instant, a stable that exists by then, and a number below `n` for all else. */
export type Subject = { facts: ChainFacts; stable: string; at: number; pick: (n: number) => number }

/** The job whose results an answer consists of, if it is not made of facts alone. */
export type Kind = { name: string; job?: string; ask: (subject: Subject) => Question }

const WEEK = 604_800

/** The part of a list's rows whose times lie in (from, to], without going through all of them. */
export function between<Row extends { block_time: number }>(rows: readonly Row[], from: number, to: number): Row[] {
  const firstAfter = (time: number): number => {
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((rows[middle] as Row).block_time > time) high = middle
      else low = middle + 1
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

const samplesOf = ({ facts, stable }: Subject) => facts.samples.get(stable) ?? []

/** All anomalies of the chain's facts, computed once: the lists are parts of this one. */
const allAnomalies = new WeakMap<ChainFacts, OracleAnomaly[]>()
function anomaliesUntil(facts: ChainFacts, at: number): OracleAnomaly[] {
  const known =
    allAnomalies.get(facts) ?? flowAnomaliesOracle(facts.flows, facts.times[0] ?? 0, facts.times.at(-1) ?? 0)
  allAnomalies.set(facts, known)
  return known.filter(({ window_start }) => window_start <= iso(at))
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
      const samples = between(samplesOf(subject), at - WEEK, at)
      return about('peg', subject, { address: stable, windows: expectedWindows(samples, at) })
    },
  },
  {
    name: 'peg events',
    job: 'peg-events',
    ask: (subject) => {
      const question = about('peg-events', subject, {
        events: pegEventsOracle(samplesOf(subject), subject.at).slice(0, 500),
      })
      return { ...question, query: { ...question.query, limit: 500 } }
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
    name: 'rewards',
    ask: (subject) => about('rewards', subject, rewardsAt(subject.facts.economy, subject.stable, subject.at)),
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
    job: 'risk',
    ask: (subject) => about('risk', subject, riskAt(subject.facts.snapshot, subject.stable, subject.at)),
  },
  {
    name: 'reserves',
    job: 'reserves',
    ask: (subject) => about('reserves', subject, reservesAt(subject.facts.snapshot, subject.stable, subject.at)),
  },
  {
    name: 'flow anomalies',
    job: 'flow-anomalies',
    ask: ({ facts, at }) => ({
      path: 'stablecoins/flow-anomalies',
      query: { as_of: at, limit: 500 },
      expected: { anomalies: anomaliesUntil(facts, at).slice(0, 500) },
    }),
  },
]
