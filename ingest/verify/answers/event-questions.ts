import { anomalyEvent, inOrder, type OracleEvent, pegBreakEvents, standing } from '../definitions/events.js'
import { iso } from '../definitions/rows.js'
import type { ChainFacts } from './chain-facts.js'
import { allAnomalies, type Body, type Kind, type Question } from './questions.js'

const TYPES = ['peg_break.started', 'peg_break.ended', 'flow_anomaly.detected'] as const

/** All events about peg breaks up to the last slot, computed once. */
const known = new WeakMap<ChainFacts, Map<number, OracleEvent[]>>()
function breaksUntil(facts: ChainFacts, until: number): OracleEvent[] {
  const memory = known.get(facts) ?? new Map<number, OracleEvent[]>()
  known.set(facts, memory)
  const events =
    memory.get(until) ?? [...facts.samples].flatMap(([stable, samples]) => pegBreakEvents(stable, samples, until))
  memory.set(until, events)
  return events
}

const isAbout = ({ data }: OracleEvent, stable: string): boolean =>
  [data.stable, data.from_token, data.to_token].includes(stable)

/** The page after the last one, from where it says that the next one begins. */
function nextPage(query: Question['query'], pages: readonly Body[]): Question['query'] | null {
  const { has_more, next_after } = pages.at(-1) as { has_more: boolean; next_after: number }
  return has_more ? { ...query, after: next_after } : null
}

/**
 * The log of events about a stable or all, of some types, in pages of a random length: what stands of it, up to the last
 * slots of the detectors.
 */
export const EVENT_KINDS: readonly Kind[] = [
  {
    name: 'events',
    jobs: ['peg-events', 'flow-anomalies'],
    ask: ({ facts, stable, horizons, pick }) => {
      const types = TYPES.filter(() => pick(2) === 0)
      const isWanted = ({ event }: OracleEvent) => types.length === 0 || types.some((type) => type === event)
      const [breaks = 0, anomalies = 0] = horizons
      const isOfStable = pick(4) > 0
      const expected = [
        ...breaksUntil(facts, breaks),
        ...allAnomalies(facts)
          .filter(({ window_end }) => window_end <= iso(anomalies))
          .map(anomalyEvent),
      ].filter((event) => isWanted(event) && (!isOfStable || isAbout(event, stable)))
      const isCompared = ({ event, occurred_at }: OracleEvent): boolean =>
        (event.startsWith('peg_break') && occurred_at <= iso(breaks)) ||
        (event === 'flow_anomaly.detected' && occurred_at <= iso(anomalies))
      return {
        path: 'events',
        query: {
          after: 0,
          limit: 20 + pick(480),
          types: (types.length === 0 ? TYPES : types).join(),
          ...(isOfStable && { stable }),
        },
        nextPage,
        expected: { events: inOrder(expected), faults: [] },
        read: ({ pages }) => {
          const { events, faults } = standing((pages as Body[]).flatMap((page) => page.events as never[]))
          return { events: inOrder(events.filter(isCompared)), faults }
        },
        ...(!facts.isWhole && { apart: 'not recomputed: blocks are missing since the first' }),
      }
    },
  },
]
