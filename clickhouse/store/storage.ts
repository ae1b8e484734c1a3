import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, type QuerySignal } from './define-query.js'

/** The disks of the server. Their paths are not read. */
const disks = defineQuery({
  name: 'disks',
  row: z.object({ disk: z.string(), free_bytes: z.coerce.number(), total_bytes: z.coerce.number() }),
  sql: `
    SELECT name AS disk, free_space AS free_bytes, total_space AS total_bytes
    FROM system.disks WHERE total_space > 0 AND total_space < toUInt64(-1) ORDER BY name`,
})

/** For each table of the database: its size, and its active parts, in all and most in one partition. */
const tableParts = defineQuery({
  name: 'table_parts',
  row: z.object({ table: z.string(), bytes: z.coerce.number(), parts: z.int(), most_in_partition: z.int() }),
  sql: `
    SELECT table, sum(partition_bytes) AS bytes, toUInt32(sum(partition_parts)) AS parts,
           toUInt32(max(partition_parts)) AS most_in_partition
    FROM
    (
        SELECT table, partition_id, sum(bytes_on_disk) AS partition_bytes, count() AS partition_parts
        FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table, partition_id
    )
    GROUP BY table ORDER BY table`,
})

/**
 * The state of this server's copies of the database's replicated tables, and how many other servers with copies the Keeper
 * has no session of; null if no table is replicated. Without a Keeper, the last is not known.
 */
const replicas = defineOptionalRow({
  name: 'replicas',
  row: z.object({
    most_delay_seconds: z.int(),
    queued: z.int(),
    readonly_tables: z.int(),
    keeper_answers: z.boolean(),
    away: z.int().nullable(),
  }),
  sql: `
    SELECT toUInt32(max(absolute_delay)) AS most_delay_seconds, toUInt32(sum(queue_size)) AS queued,
           toUInt32(countIf(is_readonly)) AS readonly_tables, (countIf(is_session_expired) = 0)::Bool AS keeper_answers,
           if(keeper_answers, toUInt32(max(total_replicas - active_replicas)), NULL) AS away
    FROM system.replicas WHERE database = currentDatabase() HAVING count() > 0`,
})

export type Storage = Awaited<ReturnType<typeof readStorage>>

/**
 * The disks, parts and replicas of the server. Each is undefined if it cannot be read, as without the grant for its
 * system table; never rejects.
 */
export async function readStorage(clickhouse: ClickHouseClient, options?: { signal?: QuerySignal }) {
  const orUndefined = <Value>(read: Promise<Value>): Promise<Value | undefined> => read.catch(() => undefined)
  const [disk, parts, replica] = await Promise.all([
    orUndefined(disks(clickhouse, options)),
    orUndefined(tableParts(clickhouse, options)),
    orUndefined(replicas(clickhouse, options)),
  ])
  return { disks: disk, parts, replicas: replica }
}
