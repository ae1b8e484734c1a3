import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** Every change of who may mint and burn which stable, before a block, in the order of the chain. */
export const issuerChanges = defineQuery({
  name: 'issuer_changes',
  params: z.object({ before_block: z.int() }),
  row: z.object({
    stable: z.string(),
    account: z.string(),
    granted: z.boolean(),
    block_number: z.int(),
    log_index: z.int(),
  }),
  sql: `
    SELECT stable, assumeNotNull(account) AS account, (kind = 'granted')::Bool AS granted, toUInt32(block_number) AS block_number, log_index
    FROM role_events
    WHERE role_name = 'ISSUER_ROLE' AND kind != 'admin' AND block_number < {before_block: UInt64}
    ORDER BY role_events.block_number, log_index`,
})
