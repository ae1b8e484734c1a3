import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import { KnownAt, SHOWN } from '../jobs/publications.js'
import { PEG_EVENTS_SINCE_SETTINGS, PegExcursion, pegEventsSince } from '../peg/breaks.js'
import { DEVIATION } from '../peg/sums.js'
import { defineQuery } from '../store/define-query.js'
import { together } from '../store/together.js'
import { dateTime } from '../store/values.js'

/** Of all stables if none is named. */
const Named = z.array(z.string())
const IS_NAMED = '(empty({stables: Array(String)}) OR stable IN {stables: Array(String)})'

/** The newest score of each stable that was scored in the hour up to the newest block at `at`. */
const newestScores = defineQuery({
  name: 'newest_scores',
  params: z.object({ at: z.date(), stables: Named, known_at: KnownAt }),
  row: z.object({ stable: z.string(), risk_score: z.number() }),
  sql: `
    WITH (SELECT max(block_time) FROM blocks WHERE block_time <= {at: DateTime}) AS newest
    SELECT stable, toFloat64(argMax(composite, (slot_at, revision, published_at))) AS risk_score
    FROM risk_snapshots
    WHERE slot_at <= {at: DateTime} AND slot_at > newest - 3600 AND ${IS_NAMED} AND ${SHOWN}
    GROUP BY stable`,
})

/** The breaks that are under way at `at`, the worst of each stable. */
const openBreaks = defineQuery({
  name: 'open_breaks',
  params: z.object({ at: z.date(), stables: Named }),
  row: z.object({
    stable: z.string(),
    open_break: z
      .tuple([PegExcursion.shape.severity, dateTime, z.int()])
      .transform(([severity, started_at, started_block]) => ({ severity, started_at, started_block })),
  }),
  // Every slot writes the breaks that are under way, so they are among the rows since the last slot before the instant.
  sql: `
    SELECT stable, argMax((severity, started_at, toUInt32(started_block)), severity) AS open_break
    FROM (${pegEventsSince('least({at: DateTime}, (SELECT max(slot_at) FROM peg_events))')})
    WHERE confirmed_at <= {at: DateTime} AND (ended_at IS NULL OR ended_at > {at: DateTime}) AND ${IS_NAMED}
    GROUP BY stable
    ${PEG_EVENTS_SINCE_SETTINGS}`,
})

/** The largest distance of each stable's price from 1 in the day (at - 24 h, at], in basis points. */
const deviationsOfDay = defineQuery({
  name: 'deviations_of_day',
  params: z.object({ at: z.date(), stables: Named }),
  row: z.object({ stable: z.string(), max_deviation_24h_bps: z.number() }),
  sql: `
    WITH {at: DateTime} - ${DAY_SECONDS} AS since, toStartOfMinute(since + 59) AS head, toStartOfMinute({at: DateTime}) AS tail
    SELECT stable, max(distance) / 100 AS max_deviation_24h_bps
    FROM
    (
        SELECT stable, toUInt32(greatest(-deviation_min, deviation_max)) AS distance
        FROM peg_minutes
        WHERE minute_end > head AND minute_end <= tail AND deviation_min IS NOT NULL AND ${IS_NAMED}
        UNION ALL
        SELECT stable, toUInt32(abs(${DEVIATION}))
        FROM peg_samples
        WHERE ${IS_NAMED} AND sell_micros IS NOT NULL AND ((block_time > since AND block_time <= head) OR (block_time > tail AND block_time <= {at: DateTime}))
    )
    GROUP BY stable`,
})

/** What is known of a stable at an instant, besides its state and price. */
export type StableFigures = {
  /** Of the last 24 hours; null without a price in them. */
  max_deviation_24h_bps: number | null
  /** The newest composite score; null if none is recent. */
  risk_score: number | null
  /** The worst break that is under way; null if none is. */
  open_break: { severity: 'mild' | 'severe'; started_at: Date; started_block: number } | null
}

/** The figures at `at` in three statements: of `stables`, or of every stable if there are none. */
export async function stableFiguresAt(
  clickhouse: ClickHouseClient,
  params: { at: Date; stables: string[] },
  options?: { signal?: AbortSignal },
): Promise<(stable: string) => StableFigures> {
  const [scores, breaks, deviations] = await Promise.all([
    newestScores(clickhouse, { ...params, known_at: null }, options),
    openBreaks(clickhouse, params, options),
    deviationsOfDay(clickhouse, params, options),
  ])
  const score = new Map(scores.map(({ stable, risk_score }) => [stable, risk_score]))
  const open = new Map(breaks.map(({ stable, open_break }) => [stable, open_break]))
  const deviation = new Map(deviations.map((row) => [row.stable, row.max_deviation_24h_bps]))
  return (stable) => ({
    max_deviation_24h_bps: deviation.get(stable) ?? null,
    risk_score: score.get(stable) ?? null,
    open_break: open.get(stable) ?? null,
  })
}

/** The figures of one stable at `at`. */
export const stableFiguresOf = together('stable_figures', stableFiguresAt)
