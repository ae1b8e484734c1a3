import { z } from 'zod'
import { FAMILIES } from '../facts/facts.js'
import { defineQuery } from '../store/define-query.js'

const DeclaredGap = z.object({
  family: z.enum(FAMILIES),
  from_block: z.int(),
  to_block: z.int(),
  reason: z.string(),
})
export type DeclaredGap = z.infer<typeof DeclaredGap>

/**
 * The ranges of blocks, both ends included, that were tried and could not be read, oldest first, with the newest reason.
 * What was read since then is still among them: `coverage` knows.
 */
export const declaredGaps = defineQuery({
  name: 'declared_gaps',
  params: z.object({}),
  row: DeclaredGap,
  sql: `
    SELECT family, toUInt32(from_block) AS from_block, toUInt32(to_block) AS to_block, argMax(reason, recorded_at) AS reason
    FROM ingest_gaps
    GROUP BY family, from_block, to_block
    ORDER BY family, from_block, to_block`,
})
