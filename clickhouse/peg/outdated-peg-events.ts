import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { PegExcursion, pegEventsSince } from './peg-events.js'

/** The excursions of which peg_events says, by a slot of a revision before `revision`, something later than `after`. */
export const outdatedPegEvents = defineQuery({
  name: 'outdated_peg_events',
  params: z.object({ revision: z.int(), after: z.date() }),
  row: PegExcursion,
  sql: `
    SELECT stable, severity, toUnixTimestamp(started_at) AS started_at, toUInt32(started_block) AS started_block,
           toUnixTimestamp(confirmed_at) AS confirmed_at, toUnixTimestamp(ended_at) AS ended_at,
           toUInt32(ended_block) AS ended_block, max_deviation_micros
    FROM (${pegEventsSince('{after: DateTime}')})
    WHERE revision < {revision: UInt32} AND slot_at > {after: DateTime}
    ORDER BY stable, severity, started_at, started_block`,
})
