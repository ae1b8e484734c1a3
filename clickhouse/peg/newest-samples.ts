import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { SAMPLE, SampleTuple } from './peg-sample.js'

/**
 * Every stable's newest sample at or before `as_of`, and its newest one with a price out of the last ten minutes before
 * the newest block by then; a sample without a price where none of those has one. Looks no further back, so that it
 * costs the same whatever the length of history. Every block samples every stable, so one that is missing was not
 * sampled before.
 */
export const newestSamples = defineQuery({
  name: 'newest_samples',
  params: z.object({ as_of: z.date() }),
  row: z.object({ stable: z.string(), newest: SampleTuple, priced: SampleTuple }),
  sql: `
    SELECT stable, argMax(sample, block_number) AS newest, argMaxIf(sample, block_number, sell_micros IS NOT NULL) AS priced
    FROM
    (
        SELECT stable, block_number, sell_micros, ${SAMPLE} AS sample
        FROM peg_samples
        WHERE block_time <= {as_of: DateTime}
          AND block_time > (SELECT block_time FROM blocks WHERE block_time <= {as_of: DateTime} ORDER BY block_number DESC LIMIT 1) - 600
    )
    GROUP BY stable`,
})
