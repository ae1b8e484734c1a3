import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The chain that this database is about; nothing before the first ingest. */
export const chainIdentity = defineQuery({
  name: 'chain_identity',
  params: z.object({}),
  row: z.object({ chain_id: z.int(), genesis_hash: z.string() }),
  sql: 'SELECT toUInt32(chain_id) AS chain_id, genesis_hash FROM chain_identity',
})
