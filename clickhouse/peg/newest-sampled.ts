import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/**
 * The time of the newest peg sample that did not fail, of those of `within_seconds` before the newest block; null where
 * there is none. `has_stables`: there is something to sample.
 */
export const newestSampled = defineQuery({
  name: 'newest_sampled',
  params: z.object({ within_seconds: z.int() }),
  row: z.object({ sampled_at: dateTime.nullable(), has_stables: z.boolean() }),
  sql: `
    WITH (SELECT max(block_time) FROM blocks) AS newest
    SELECT formatDateTime(maxOrNull(block_time), '%FT%TZ') AS sampled_at, (SELECT count() > 0 FROM stablecoins)::Bool AS has_stables
    FROM peg_samples
    WHERE block_time > newest - {within_seconds: UInt32} AND status != 'failed'`,
})
