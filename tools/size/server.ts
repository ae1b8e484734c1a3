import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../../clickhouse/store/define-query.js'

/** What the server has used since its start, for all of its databases: CPU cores on average, and memory now. */
const serverUse = defineOptionalRow({
  name: 'server_use',
  row: z.object({ cores: z.number(), memory_bytes: z.coerce.number() }),
  sql: `
    SELECT sum(value) / 1e6 / uptime() AS cores,
           (SELECT greatest(0, max(value)) FROM system.metrics WHERE metric = 'MemoryTracking') AS memory_bytes
    FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds') HAVING count() = 2`,
})

const hasProfileEvents = defineRow({
  name: 'has_profile_events',
  row: onlyColumn('known', z.boolean()),
  sql: `SELECT (count() > 0)::Bool AS known FROM system.columns WHERE database = 'system' AND table = 'query_log' AND name = 'ProfileEvents'`,
})

/** How far back the query log is read, in minutes. */
export const LOGGED_MINUTES = 10

const queryKinds = (cpu: string) =>
  defineQuery({
    name: 'query_kinds',
    row: z.object({
      query: z.string(),
      is_insert: z.boolean(),
      runs: z.coerce.number(),
      seconds: z.number(),
      cpu_seconds: z.number().nullable(),
      memory_bytes: z.coerce.number(),
    }),
    sql: `
    SELECT log_comment AS query, (query_kind = 'Insert')::Bool AS is_insert, count() AS runs, sum(query_duration_ms) / 1000 AS seconds,
           ${cpu} AS cpu_seconds, max(memory_usage) AS memory_bytes
    FROM system.query_log
    WHERE event_date >= yesterday() AND event_time > now() - INTERVAL ${LOGGED_MINUTES} MINUTE AND type = 'QueryFinish'
      AND current_database = currentDatabase() AND log_comment != ''
    GROUP BY query, is_insert ORDER BY ifNull(cpu_seconds, seconds) DESC, query`,
  })

const timedKinds = queryKinds("CAST(NULL, 'Nullable(Float64)')")
const measuredKinds = queryKinds(
  "toNullable(sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1e6)",
)

export type ServerFigures = {
  use: { cores: number; memory_bytes: number } | null
  /** Of the last minutes of the query log, most expensive first; null if there is none. `cpu_seconds` is null where only the time is known. */
  kinds: Awaited<ReturnType<typeof timedKinds>> | null
}

/** What the server shows of its use. Each is null if it does not, or this user may not read it; never rejects. */
export async function serverFigures(clickhouse: ClickHouseClient): Promise<ServerFigures> {
  const readKinds = async () =>
    (await hasProfileEvents(clickhouse)) ? measuredKinds(clickhouse) : timedKinds(clickhouse)
  const [use, kinds] = await Promise.all([serverUse(clickhouse).catch(() => null), readKinds().catch(() => null)])
  return { use, kinds: kinds?.length ? kinds : null }
}
