import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The number of the newest migration that was applied; 0 for none. Fails where there is no schema at all. */
export const schemaVersion = defineQuery({
  name: 'schema_version',
  params: z.object({}),
  row: z.object({ version: z.int() }),
  sql: 'SELECT max(version) AS version FROM schema_migrations',
})
