import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { PEG_EVENTS_SINCE_SETTINGS, PegExcursion, pegEventsSince } from './breaks.js'
import { ALLOWED_MICROS, DEVIATION } from './sums.js'

/** The severities of a break: the allowed deviation from 1, in millionths, and the minimum duration, in seconds. */
export const TRACKS = {
  mild: { allowed_micros: ALLOWED_MICROS['10bps'], min_seconds: 300 },
  severe: { allowed_micros: ALLOWED_MICROS['50bps'], min_seconds: 60 },
} as const

const TRACKS_SQL = `[${Object.entries(TRACKS).map(([name, { allowed_micros, min_seconds }]) => `('${name}', ${allowed_micros}, ${min_seconds})`)}]`

/**
 * The excursions in progress in (`after`, `to`], as known at `to`: those that peg_events has in progress at `after`,
 * and those that begin in the samples, except the ones that ended by `to` and were too short to be events. A sample
 * without a price neither continues nor ends an excursion. `standing_tokens` is as it was at `after`.
 */
export const pegExcursions = defineQuery({
  name: 'peg_excursions',
  params: z.object({ after: z.date(), to: z.date() }),
  row: PegExcursion,
  // The samples of a stable in order, split after each one inside the allowed range. A piece that begins outside is an
  // excursion; a sample inside, which can only be the last one of a piece, ends it. An excursion in progress is
  // represented by one more sample outside, before the others, with its start, its largest deviation so far, when it
  // was confirmed, its direction and for how many tokens it stands.
  sql: `
    SELECT stable, severity,
           toUnixTimestamp(samples[1].1) AS started_at, toUInt32(samples[1].2) AS started_block, samples[1].6 AS direction,
           toUnixTimestamp(coalesce(samples[1].4, arrayFilter(sample -> sample.1 >= samples[1].1 + minimum, samples)[1].5)) AS confirmed_at,
           if(samples[-1].3 > allowed, NULL, toUnixTimestamp(samples[-1].1)) AS ended_at,
           if(samples[-1].3 > allowed, NULL, toUInt32(samples[-1].2)) AS ended_block,
           arrayMax(sample -> sample.3, samples) AS max_deviation_micros, samples[1].7 AS standing_tokens
    FROM
    (
        SELECT stable, severity, allowed, minimum,
               arrayJoin(arrayReverseSplit(sample -> sample.3 <= allowed, arraySort(groupArray(sample)))) AS samples
        FROM
        (
            SELECT stable, track.1 AS severity, track.2 AS allowed, track.3 AS minimum,
                   (block_time, block_number, toUInt32(abs(${DEVIATION})), CAST(NULL AS Nullable(DateTime('UTC'))), toNullable(block_time), toNullable(if(${DEVIATION} > 0, 'above', 'below')), CAST(NULL AS Nullable(UInt32))) AS sample
            FROM peg_samples ARRAY JOIN ${TRACKS_SQL} AS track
            WHERE block_time > {after: DateTime} AND block_time <= {to: DateTime} AND sell_micros IS NOT NULL
            UNION ALL
            SELECT stable, track.1, track.2, track.3,
                   (started_at, started_block, max_deviation_micros, confirmed_at, NULL, toString(direction), standing_tokens)
            FROM (${pegEventsSince('{after: DateTime}')}) ARRAY JOIN ${TRACKS_SQL} AS track
            WHERE severity = track.1 AND started_at <= {after: DateTime} AND (ended_at IS NULL OR ended_at > {after: DateTime})
        )
        GROUP BY stable, severity, allowed, minimum
    )
    WHERE samples[1].3 > allowed AND (ended_at IS NULL OR confirmed_at IS NOT NULL OR started_at <= toUnixTimestamp({after: DateTime}))
    ${PEG_EVENTS_SINCE_SETTINGS}`,
})

/** The excursions whose row in peg_events is from a slot after `after` and a revision before `revision`. */
export const outdatedPegEvents = defineQuery({
  name: 'outdated_peg_events',
  params: z.object({ revision: z.int(), after: z.date() }),
  row: PegExcursion,
  sql: `
    SELECT stable, severity, toUnixTimestamp(started_at) AS started_at, toUInt32(started_block) AS started_block, direction,
           toUnixTimestamp(confirmed_at) AS confirmed_at, toUnixTimestamp(ended_at) AS ended_at,
           toUInt32(ended_block) AS ended_block, max_deviation_micros, standing_tokens
    FROM (${pegEventsSince('{after: DateTime}')})
    WHERE revision < {revision: UInt32} AND slot_at > {after: DateTime}
    ORDER BY stable, severity, started_at, started_block
    ${PEG_EVENTS_SINCE_SETTINGS}`,
})
