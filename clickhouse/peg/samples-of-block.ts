import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { SAMPLE, SampleTuple } from './peg-sample.js'

/** The peg samples of one block, of every stable. Its time finds them without a look at all others. */
export const samplesOfBlock = defineQuery({
  name: 'samples_of_block',
  params: z.object({ block_number: z.int(), block_time: z.date() }),
  row: z.object({ stable: z.string(), sample: SampleTuple }),
  sql: `
    SELECT stable, ${SAMPLE} AS sample
    FROM peg_samples
    WHERE block_time = {block_time: DateTime} AND block_number = {block_number: UInt64}
    ORDER BY stable`,
})
