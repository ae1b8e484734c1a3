import { z } from 'zod'
import { defineQuery } from '../../define-query.js'

/**
 * How many samples each stable has up to a block, how many blocks they are of, and how many blocks there are from its
 * creation on.
 */
export const sampleCounts = defineQuery({
  name: 'sample_counts',
  params: z.object({ to: z.int() }),
  row: z.object({ stable: z.string(), samples: z.int(), sampled_blocks: z.int(), blocks: z.int() }),
  sql: `
    WITH numbers AS (SELECT arraySort(groupArray(block_number)) FROM blocks WHERE block_number <= {to: UInt64})
    SELECT stable, toUInt32(samples) AS samples, toUInt32(sampled_blocks) AS sampled_blocks,
           toUInt32(arrayCount(n -> n >= created, (SELECT * FROM numbers))) AS blocks
    FROM
    (
        SELECT stable, count() AS samples, uniqExact(block_number) AS sampled_blocks
        FROM peg_samples WHERE block_number <= {to: UInt64} GROUP BY stable
    ) AS counts
    INNER JOIN (SELECT stable, any(block_number) AS created FROM stablecoins GROUP BY stable) AS stables USING stable
    ORDER BY stable`,
})
