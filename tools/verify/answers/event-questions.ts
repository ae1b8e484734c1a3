import {
  anomalyEvent,
  inOrder,
  type OracleEvent,
  passesBreakFilter,
  pegBreakEvents,
  standing,
  withStanding,
} from '../../../oracle/events.js'
import { pegTrackEvents } from '../../../oracle/peg-tracks.js'
import { iso } from '../../../oracle/rows.js'
import type { ChainFacts } from './chain-facts.js'
import { allAnomalies, type Body, type Kind, type Question, randomBreakFilter } from './questions.js'

const TYPES = [
  'peg_break.started',
  'peg_break.ended',
  'agreed_break.started',
  'agreed_break.ended',
  'peg_quote.lost',
  'peg_quote.back',
  'flow_anomaly.detected',
] as const

/** All events up to a slot that `compute` finds in the samples of each stable, computed once. */
function memory(compute: (facts: ChainFacts, stable: string, until: number) => OracleEvent[]) {
  const computedOf = new WeakMap<ChainFacts, Map<number, OracleEvent[]>>()
  return (facts: ChainFacts, until: number): OracleEvent[] => {
    const computed = computedOf.get(facts) ?? new Map<number, OracleEvent[]>()
    computedOf.set(facts, computed)
    const events = computed.get(until) ?? [...facts.samples.keys()].flatMap((stable) => compute(facts, stable, until))
    computed.set(until, events)
    return events
  }
}

const breaksUntil = memory(({ samples, depth }, stable, until) =>
  pegBreakEvents(stable, samples.get(stable) ?? [], depth.get(stable) ?? [], until),
)
const tracksUntil = memory(({ samples, depth }, stable, until) =>
  pegTrackEvents(stable, samples.get(stable) ?? [], depth.get(stable) ?? [], until),
)

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
    jobs: ['peg-events', 'flow-anomalies', 'peg-tracks'],
    ask: ({ facts, stable, horizons, pick }) => {
      const types = TYPES.filter(() => pick(2) === 0)
      const isWanted = ({ event }: OracleEvent) => types.length === 0 || types.some((type) => type === event)
      // An event does not say for how many tokens its break stands if that was not known when it was announced.
      const { min_size: _, ...filter } = randomBreakFilter(pick)
      const [breaks = 0, anomalies = 0, tracks = 0] = horizons
      const isOfStable = pick(4) > 0
      const expected = [
        ...breaksUntil(facts, breaks),
        ...tracksUntil(facts, tracks),
        ...allAnomalies(facts)
          .filter(({ window_end }) => window_end <= iso(anomalies))
          .map(anomalyEvent),
      ].filter(
        (event) => isWanted(event) && passesBreakFilter(event, filter) && (!isOfStable || isAbout(event, stable)),
      )
      const horizonOf = (event: string): number =>
        event.startsWith('peg_break') ? breaks : event.startsWith('flow_anomaly') ? anomalies : tracks
      const isCompared = ({ event, occurred_at }: OracleEvent): boolean => occurred_at <= iso(horizonOf(event))
      return {
        path: 'events',
        query: {
          after: 0,
          limit: 20 + pick(480),
          types: (types.length === 0 ? TYPES : types).join(),
          ...(isOfStable && { stable }),
          ...filter,
        },
        nextPage,
        expected: { events: inOrder(expected), faults: [] },
        read: ({ pages }) => {
          const { events, faults } = standing((pages as Body[]).flatMap((page) => page.events as never[]))
          return { events: withStanding(inOrder(events.filter(isCompared)), expected), faults }
        },
        ...(!facts.isWhole && { apart: 'not recomputed: blocks are missing since the first' }),
      }
    },
  },
]
