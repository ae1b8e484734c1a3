import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { OF_FLOWS } from '../../clickhouse/chain/unknown-events.js'
import { announcedAnomalies, withAnnounced } from '../../clickhouse/events/announced.js'
import { anomalySubject, unusualSubject } from '../../clickhouse/events/types.js'
import {
  ANOMALY_WINDOW_MS,
  type FlowAnomaly,
  FlowAnomalyKey,
  flowAnomalies,
  publishedAnomaly,
} from '../../clickhouse/flows/anomalies.js'
import { AsOfQuery, allUntil, notPublished } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { AnnouncedAt, announcedAtOf, KnownAtEcho, KnownAtQuery } from '../answers/known-at.js'
import { horizonOf, searchedFields, searchedShape } from '../answers/searched.js'
import { FlowAnomalyShape } from './shapes.js'

const FlowAnomaliesResponse = z.object({
  anomalies: z
    .array(
      FlowAnomalyShape.extend({
        rules: z.array(z.enum(['z', 'robust'])).meta({
          description:
            'The rules that announced this window of the edge: z always; robust beside it, if `unusual_flow.detected` stands too',
        }),
        published_at: AnnouncedAt,
      }),
    )
    .meta({ description: 'Newest window first; within a window, largest |z_score| first' }),
  scored_until: z.iso.datetime().nullable().meta({
    description: 'End of the newest scored window; null before the first',
  }),
  ...searchedShape('Windows that ended in that time have been searched'),
  coverage: Coverage,
  known_at: KnownAtEcho,
  next_cursor: NextCursor,
})

/** The end of the window that contains `as_of`, the newest of the answer. */
const windowEndAt = (as_of: Date): Date =>
  new Date((Math.floor(as_of.getTime() / ANOMALY_WINDOW_MS) + 1) * ANOMALY_WINDOW_MS)

const keyOf = ({ window_start, z_score, from_token, to_token }: FlowAnomaly): FlowAnomalyKey => [
  window_start.getTime() / 1000,
  Math.abs(z_score),
  from_token,
  to_token,
]

export const flowAnomaliesRoute = endpoint({
  path: '/stablecoins/flow-anomalies',
  tag: 'flows',
  operationId: 'listFlowAnomalies',
  summary: '15-minute windows in which unusually much or little flowed between two stables',
  description:
    'A window with a flow counts when it is at least 3 standard deviations from the mean of the week before, up or down, and if up, also from the mean of its windows with a flow. A window without a flow counts once in a silence that is improbably long. `kind` says which. This is the rule `z`; what the rule `robust` finds are the events `unusual_flow.detected`.',
  about: 'moment',
  query: { limit: LimitQuery, ...AsOfQuery, ...KnownAtQuery, cursor: CursorQuery(FlowAnomalyKey) },
  response: FlowAnomaliesResponse,
  cache: CACHE_POLICIES.flowAnomalies,
  covers: ({ at }) => ({
    families: ['logs'],
    logsOf: OF_FLOWS,
    jobs: ['flow-anomalies'],
    ...allUntil(at),
    isPriced: true,
  }),
  answer: async ({ app, at, knownAt, coverage, searches, query: { limit, cursor: after }, signal }) => {
    const horizon = horizonOf(searches)
    if (knownAt && !horizon) throw notPublished('flow anomalies', knownAt)
    const params = { as_of: at, limit: limit + 1, after }
    const listed = knownAt
      ? await announcedAnomalies(app.clickhouse, { ...params, known_at: knownAt }, { signal })
      : horizon
        ? await flowAnomalies(app.clickhouse, { ...params, horizon }, { signal })
        : []
    const { rows, next_cursor } = page<FlowAnomaly>(listed, limit, keyOf)
    const announced = (subjectOf: typeof anomalySubject) =>
      withAnnounced(app.clickhouse, rows, subjectOf, { known_at: knownAt }, { signal })
    const [anomalies, unusual] = await Promise.all([announced(anomalySubject), announced(unusualSubject)])
    const searched = searchedFields(searches, windowEndAt(at), coverage)
    return {
      anomalies: anomalies.map(({ published_at, ...anomaly }, i) => ({
        ...publishedAnomaly(anomaly),
        rules: unusual[i]?.published_at ? ['z' as const, 'robust' as const] : ['z' as const],
        published_at: announcedAtOf(published_at),
      })),
      scored_until: searched.searched_until,
      ...searched,
      coverage,
      next_cursor,
    }
  },
})
