import { z } from 'zod'
import { defineQuery } from '../../define-query.js'

/**
 * How many samples each stable has up to a block, how many blocks they are of, and how many blocks there are from its
 * creation on. Tracked are all stables, or the listed ones.
 */
export const sampleCounts = defineQuery({
  name: 'sample_counts',
  params: z.object({ to: z.int(), track: z.enum(['all', 'listed']) }),
  row: z.object({ stable: z.string(), samples: z.int(), sampled_blocks: z.int(), blocks: z.int() }),
  sql: `
    WITH numbers AS (SELECT arraySort(groupArray(block_number)) FROM blocks WHERE block_number <= {to: UInt64})
    SELECT stable, toUInt32(ifNull(counts.samples, 0)) AS samples, toUInt32(ifNull(counts.sampled_blocks, 0)) AS sampled_blocks,
           toUInt32(arrayCount(n -> n >= created, (SELECT * FROM numbers))) AS blocks
    FROM
    (
        SELECT stable, any(block_number) AS created, max(tier = 'listed' OR {track: String} = 'all') AS is_tracked
        FROM stablecoins WHERE block_number <= {to: UInt64} GROUP BY stable
    ) AS stables
    LEFT JOIN
    (
        SELECT toString(stable) AS stable, count() AS samples, uniqExact(block_number) AS sampled_blocks
        FROM peg_samples WHERE block_number <= {to: UInt64} GROUP BY stable
    ) AS counts USING stable
    WHERE is_tracked OR counts.samples > 0
    ORDER BY stable`,
})
