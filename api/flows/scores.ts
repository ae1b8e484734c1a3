import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import type { Ledger } from '../../clickhouse/chain/ledger.js'
import { readSince, storedFor } from '../../clickhouse/chain/missing.js'
import { OF_FLOWS } from '../../clickhouse/chain/unknown-events.js'
import { FLOW_WINDOW_SECONDS, windowOf } from '../../clickhouse/flows/buckets.js'
import { type EdgeScore, edgeScores, UNSCORED } from '../../clickhouse/flows/edge-scores.js'
import { edgeWindows } from '../../clickhouse/flows/edge-windows.js'
import { END_OF_TIME, isoSeconds, WEEK_SECONDS } from '../../process/instants.js'
import { AsOfQuery, lastSeconds, PastEcho } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { CursorQuery, LimitQuery, NextCursor, page } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { EdgeScoreShape } from './shapes.js'

/** The end of the window, and the p-value and the addresses of the last edge of a page. */
const ScoreKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.number().min(0).max(UNSCORED), z.string()])
type ScoreKey = z.infer<typeof ScoreKey>

const FlowScoresResponse = z.object({
  as_of: PastEcho,
  window_start: z.iso.datetime().nullable().meta({ description: 'Start of the window; null before the first' }),
  window_end: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'End of the window, not included; null before the first' }),
  edge_count: z.int().nonnegative().meta({ description: 'Edges with a flow by then' }),
  scored_count: z.int().nonnegative().meta({ description: 'Those with a p_value, over which q_value is computed' }),
  scores: z.array(EdgeScoreShape).meta({ description: 'The least probable first; last those that are not scored' }),
  coverage: Coverage,
  next_cursor: NextCursor,
})

/** The end of the newest window that ended by `at` and after which a block is stored, in unix seconds; null without one. */
function newestEnd(ledger: Ledger, at: Date): number | null {
  const newest = storedFor(ledger, 'logs').at(-1)?.to_time ?? null
  return newest === null ? null : windowOf(Math.min(newest, at.getTime() / 1000))
}

const addressesOf = ({ from_address, to_address }: EdgeScore): string => from_address + to_address

function isAfter(score: EdgeScore, [, p_value, addresses]: ScoreKey): boolean {
  const probability = score.p_value ?? UNSCORED
  return probability > p_value || (probability === p_value && addressesOf(score) > addresses)
}

export const flowScoresRoute = endpoint({
  path: '/stablecoins/flows/scores',
  tag: 'flows',
  operationId: 'listFlowScores',
  summary: 'How unusual the last completed 15 minutes were on every edge, by its own history',
  description:
    'Robust scores beside those of flow-anomalies: distance from the median of the windows with a flow, the probability of the activity and the volume of the window, and the same corrected for the number of edges. Each says why, in words.',
  about: 'moment',
  query: {
    limit: LimitQuery,
    ...AsOfQuery,
    min_abs_z: z.coerce.number().min(0).optional().meta({ description: 'Only edges with at least this |robust_z|' }),
    max_q: z.coerce.number().min(0).max(1).optional().meta({
      description:
        'Only edges with at most this q_value: where nothing is unusual, at most one window in a hundred has one of at most 0.01',
    }),
    cursor: CursorQuery(ScoreKey),
  },
  response: FlowScoresResponse,
  cache: CACHE_POLICIES.flowScores,
  // The window may have begun half an hour before, and its baseline a week before that.
  covers: ({ at }) => ({
    families: ['logs'],
    logsOf: OF_FLOWS,
    ...lastSeconds(at, WEEK_SECONDS + 2 * FLOW_WINDOW_SECONDS),
    isPriced: true,
    isOfWindows: true,
  }),
  answer: async ({ app, at, ledger, query: { limit, cursor, min_abs_z, max_q = 1 }, signal }) => {
    const newest = newestEnd(ledger, at)
    if (newest === null)
      return { window_start: null, window_end: null, edge_count: 0, scored_count: 0, scores: [], next_cursor: null }
    // All pages are about the window of the first one.
    const end = Math.min(newest, windowOf(cursor?.[0] ?? newest))
    const window_start = new Date((end - FLOW_WINDOW_SECONDS) * 1000)
    const read_since = readSince(ledger, 'logs', end)
    const all = edgeScores(await edgeWindows(app.clickhouse, { window_start, read_since }, { signal }), window_start)
    const wanted = all.filter(
      (score) =>
        (min_abs_z === undefined || (score.robust_z !== null && Math.abs(score.robust_z) >= min_abs_z)) &&
        (score.q_value ?? 1) <= max_q &&
        (cursor === undefined || isAfter(score, cursor)),
    )
    const { rows, next_cursor } = page(
      wanted,
      limit,
      (score): ScoreKey => [end, score.p_value ?? UNSCORED, addressesOf(score)],
    )
    return {
      window_start: isoSeconds(window_start),
      window_end: isoSeconds(new Date(end * 1000)),
      edge_count: all.length,
      scored_count: all.filter(({ p_value }) => p_value !== null).length,
      scores: rows,
      next_cursor,
    }
  },
})
