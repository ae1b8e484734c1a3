import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

const names = defineQuery({
  name: 'databases',
  params: z.object({}),
  row: z.object({ name: z.string() }),
  sql: `SELECT name FROM system.databases WHERE lower(name) NOT IN ('system', 'information_schema') ORDER BY name`,
})

/** The names of the databases of a server, without its own. */
export const databases = async (clickhouse: ClickHouseClient): Promise<string[]> =>
  (await names(clickhouse, {})).map(({ name }) => name)
