import { z } from 'zod'
import { FAMILIES } from '../facts/facts.js'
import { defineQuery } from '../store/define-query.js'
import { DELAYS, delayColumns } from '../store/delays.js'

/** More batches than the tip can write in a day, at one a second. */
const BATCHES = 100_000

/**
 * For each family of facts, how long after their time blocks were in, over what the tip has committed in the hour and
 * the day before `now`: of each batch its last block. A block that was rolled back since does not count. No row where
 * nothing was committed.
 */
export const ingestDelays = defineQuery({
  name: 'ingest_delays',
  params: z.object({ now: z.date() }),
  row: z.object({ family: z.enum(FAMILIES), ...delayColumns }),
  sql: `
    WITH batches AS
    (
        SELECT families, to_block, last_hash, min(recorded_at) AS ended_at
        FROM ingest_batches
        WHERE track = 'tip' AND state = 'committed' AND recorded_at > {now: DateTime64(3)} - INTERVAL 1 DAY
          AND sequence_number + ${BATCHES} >
              (SELECT sequence_number FROM ingest_batches WHERE track = 'tip' ORDER BY sequence_number DESC LIMIT 1)
        GROUP BY families, to_block, last_hash
    )
    SELECT family, ${DELAYS}
    FROM
    (
        SELECT arrayJoin(families) AS family, ended_at,
               dateDiff('millisecond', toDateTime64(block_time, 3, 'UTC'), ended_at) / 1000 AS delay
        FROM batches
        INNER JOIN (SELECT block_number, block_hash, block_time FROM blocks WHERE block_number IN (SELECT to_block FROM batches)) AS found
            ON to_block = block_number AND last_hash = block_hash
    )
    GROUP BY family ORDER BY family`,
})
