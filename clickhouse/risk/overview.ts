import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import { KnownAt, SHOWN } from '../jobs/publications.js'
import { BREAKS_SINCE_SETTINGS, breaksSince, PegExcursion } from '../peg/excursions.js'
import { distances } from '../peg/largest-deviations.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { shared, together } from '../store/together.js'
import { dateTime } from '../store/values.js'

/** Of all stables if none is named. */
const Named = z.array(z.string())
const IS_NAMED = '(empty({stables: Array(String)}) OR stable IN {stables: Array(String)})'

/** The newest score of each stable that was scored in the hour up to the newest block at `at`. */
const newestScores = defineQuery({
  name: 'newest_scores',
  params: z.object({ at: z.date(), stables: Named, known_at: KnownAt }),
  row: z.object({
    stable: z.string(),
    value: z.tuple([z.number(), dateTime]).transform(([composite, computed_at]) => ({ composite, computed_at })),
  }),
  sql: `
    WITH (SELECT max(block_time) FROM blocks WHERE block_time <= {at: DateTime}) AS newest
    SELECT stable, argMax((toFloat64(composite), slot_at), (slot_at, revision, published_at)) AS value
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
    value: z
      .tuple([PegExcursion.shape.severity, dateTime, z.int()])
      .transform(([severity, started_at, started_block]) => ({ severity, started_at, started_block })),
  }),
  // Every slot writes the breaks that are under way, so they are among the rows since the last slot before the instant.
  sql: `
    SELECT stable, argMax((severity, started_at, toUInt32(started_block)), severity) AS value
    FROM (${breaksSince("least({at: DateTime}, (SELECT max(slot_at) FROM peg_breaks WHERE track = 'published'))", "'published'")})
    WHERE confirmed_at <= {at: DateTime} AND (ended_at IS NULL OR ended_at > {at: DateTime}) AND ${IS_NAMED}
    GROUP BY stable
    ${BREAKS_SINCE_SETTINGS}`,
})

/** The largest distance of each stable's price from 1 in the day (at - 24 h, at], in basis points. */
const deviationsOfDay = defineQuery({
  name: 'deviations_of_day',
  params: z.object({ at: z.date(), stables: Named }),
  row: z.object({ stable: z.string(), value: z.number() }),
  sql: `
    WITH {at: DateTime} - ${DAY_SECONDS} AS since, toStartOfMinute(since + 59) AS head, toStartOfMinute({at: DateTime}) AS tail
    SELECT stable, max(distance) / 100 AS value
    FROM
    (${distances({
      which: IS_NAMED,
      minutes: 'minute_end > head AND minute_end <= tail',
      samples: 'block_time > since AND block_time <= {at: DateTime} AND (block_time <= head OR block_time > tail)',
    })}
    )
    GROUP BY stable`,
})

/** What is known of a stable at an instant, besides its state and price. */
export type StableFigures = {
  /** Of the last 24 hours; null without a price in them. */
  max_deviation_24h_bps: number | null
  /** The newest composite score, and the time that it is of; null if none is recent. */
  risk_score: number | null
  risk_computed_at: Date | null
  /** The worst break that is under way; null if none is. */
  open_break: { severity: 'mild' | 'severe'; started_at: Date; started_block: number } | null
}

type Row<Value> = { stable: string; value: Value }

/** A figure of stables at an instant: of all of them, and of one. */
function figureOf<Value>(
  name: string,
  read: (
    clickhouse: ClickHouseClient,
    request: { at: Date; stables: string[] },
    options?: ReadOptions,
  ) => Promise<Row<Value>[]>,
) {
  const valuesOf = async (
    clickhouse: ClickHouseClient,
    request: { at: Date; stables: string[] },
    options: ReadOptions,
  ) => new Map((await read(clickhouse, request, options)).map(({ stable, value }) => [stable, value]))
  return {
    ofAll: shared(name, (clickhouse, { at }: { at: Date }, options) =>
      valuesOf(clickhouse, { at, stables: [] }, options),
    ),
    ofOne: together(name, async (clickhouse, request: { at: Date; stables: string[] }, options) => {
      const values = await valuesOf(clickhouse, request, options)
      return (stable): Value | null => values.get(stable) ?? null
    }),
  }
}

/** A figure whose values are kept while no row of `tables` changes. */
function keptFigureOf<Value>(tables: readonly string[], ...figure: Parameters<typeof figureOf<Value>>) {
  const { ofAll, ofOne } = figureOf(...figure)
  return { ofAll: keptWhile(tables, ofAll), ofOne: keptWhile(tables, ofOne) }
}

const score = keptFigureOf(
  ['risk_snapshots', 'blocks', 'ingest_rollbacks', 'history_changes'],
  'newest_scores',
  newestScores,
)
const openBreak = keptFigureOf(['peg_breaks'], 'open_breaks', openBreaks)
const deviation = figureOf('deviations_of_day', deviationsOfDay)

const publishedScore = (newest: { composite: number; computed_at: Date } | null) => ({
  risk_score: newest?.composite ?? null,
  risk_computed_at: newest?.computed_at ?? null,
})

/** The figures of every stable at `at`, in three statements. */
export async function stableFiguresAt(
  clickhouse: ClickHouseClient,
  { at }: { at: Date },
  options?: ReadOptions,
): Promise<(stable: string) => StableFigures> {
  const [scores, breaks, deviations] = await Promise.all([
    score.ofAll(clickhouse, { at }, options),
    openBreak.ofAll(clickhouse, { at }, options),
    deviation.ofAll(clickhouse, { at }, options),
  ])
  return (stable) => ({
    max_deviation_24h_bps: deviations.get(stable) ?? null,
    ...publishedScore(scores.get(stable) ?? null),
    open_break: breaks.get(stable) ?? null,
  })
}

/** The figures of one stable at `at`. */
export async function stableFiguresOf(
  clickhouse: ClickHouseClient,
  request: { stable: string; at: Date },
  options?: ReadOptions,
): Promise<StableFigures> {
  const [newest, open_break, max_deviation_24h_bps] = await Promise.all([
    score.ofOne(clickhouse, request, options),
    openBreak.ofOne(clickhouse, request, options),
    deviation.ofOne(clickhouse, request, options),
  ])
  return { max_deviation_24h_bps, ...publishedScore(newest), open_break }
}
