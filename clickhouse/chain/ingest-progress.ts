import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * Whether the tip has got anything in after `since`, and how much time of the chain that was, in seconds; null where
 * nothing was in before.
 */
export const ingestProgress = defineQuery({
  name: 'ingest_progress',
  params: z.object({ since: z.date() }),
  row: z.object({ has_moved: z.boolean(), gained_seconds: z.int().nullable() }),
  sql: `
    WITH
        (
            SELECT recorded_at FROM ingest_batches WHERE track = 'tip' AND state = 'committed'
            ORDER BY sequence_number DESC LIMIT 1
        ) AS newest_at,
        (
            SELECT to_block FROM ingest_batches
            WHERE track = 'tip' AND state = 'committed' AND recorded_at <= {since: DateTime64(3)}
            ORDER BY sequence_number DESC LIMIT 1
        ) AS block_before,
        (SELECT maxOrNull(block_time) FROM blocks) AS newest,
        (SELECT maxOrNull(block_time) FROM blocks WHERE block_number = block_before) AS before
    SELECT (ifNull(newest_at > {since: DateTime64(3)}, false))::Bool AS has_moved, toInt32(newest - before) AS gained_seconds`,
})
