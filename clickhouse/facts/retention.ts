import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { envInt } from '../../process/environment.js'
import { DAY_SECONDS } from '../../process/instants.js'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { QueryError } from '../store/query-error.js'
import { TABLES, traitsOf } from '../tables.js'
import type { Facts, FactTable } from './facts.js'

/** Fewer days would let go what ingest has just written and may have to compare after a crash. */
const LEAST_DAYS = 7

/** The storage policy that COLD_AFTER_DAYS needs on the server, and its volume for old parts. */
const COLD = { policy: 'plumbline', volume: 'cold' }

/** The variables of every process that migrates, to be spread into its own schema. Unset: everything is kept, where it is. */
export const retentionEnv = {
  RETAIN_FEES_PAID_DAYS: envInt(LEAST_DAYS, 36_500).optional(),
  COLD_AFTER_DAYS: envInt(1, 36_500).optional(),
}

/** What those variables parse to. */
export type RetentionEnv = { RETAIN_FEES_PAID_DAYS?: number | undefined; COLD_AFTER_DAYS?: number | undefined }

/** The tables in months of block time, with the days that each keeps as last recorded (0: everything), its TTL and its policy. */
const agingTables = defineQuery({
  name: 'aging_tables',
  row: z.object({ table_name: z.string(), recorded: z.int(), ttl: z.string(), storage_policy: z.string() }),
  sql: `
    SELECT name AS table_name, toUInt32(days) AS recorded, extract(engine_full, ' TTL (.+?) SETTINGS ') AS ttl, storage_policy
    FROM system.tables
    LEFT JOIN (SELECT table_name AS kept_table, argMax(retentions.days, recorded_at) AS days FROM retentions GROUP BY table_name) AS kept ON name = kept_table
    WHERE database = currentDatabase() AND partition_key = 'toYYYYMM(block_time)'
    ORDER BY name`,
})

/**
 * Makes the tables keep what the variables say, where they say, and records it. Changes nothing if they do already; safe to
 * repeat after a crash and to run in two processes at once. Rejects with QueryError, for one if the server lacks the policy.
 */
export async function applyRetention(clickhouse: ClickHouseClient, env: RetentionEnv): Promise<void> {
  const { COLD_AFTER_DAYS: coldDays } = env
  for (const { table_name, recorded, ttl, storage_policy } of await agingTables(clickhouse)) {
    const variable = traitsOf(table_name)?.retained ?? 'forever'
    const days = variable === 'forever' ? 0 : (env[variable] ?? 0)
    const record = () => insertRows(clickhouse, 'retentions', [{ table_name, days }], randomUUID())
    const change = (what: string) =>
      clickhouse.command({ query: `ALTER TABLE ${table_name} ${what}` }).catch((cause) => {
        throw new QueryError(`set how long and where ${table_name} is kept`, cause)
      })
    const ttls = [
      ...(coldDays === undefined ? [] : [`block_time + toIntervalDay(${coldDays}) TO VOLUME '${COLD.volume}'`]),
      ...(days === 0 ? [] : [`block_time + toIntervalDay(${days})`]),
    ].join(', ')
    // Recorded before rows may go, and until they may no longer.
    if (recorded !== days && days > 0) await record()
    if (coldDays !== undefined && storage_policy !== COLD.policy)
      await change(`MODIFY SETTING storage_policy = '${COLD.policy}'`)
    if (ttl !== ttls) await change(ttls === '' ? 'REMOVE TTL' : `MODIFY TTL ${ttls}`)
    if (recorded !== days && days === 0) await record()
  }
}

/**
 * Up to which block time, in unix seconds, rows of fees_paid were let go or may go within a day, now or under an earlier
 * setting; 0 if all were always kept.
 */
export const feesLetGoUntil = defineRow({
  name: 'fees_let_go_until',
  row: onlyColumn('until', z.int()),
  sql: `
    SELECT toUInt32(greatest(0, max(toInt64(toUnixTimestamp(ended_at)) - (toInt64(days) - 1) * ${DAY_SECONDS}))) AS until
    FROM
    (
        SELECT days, leadInFrame(recorded_at, 1, now64(3)) OVER (ORDER BY recorded_at ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS ended_at
        FROM retentions WHERE table_name = 'fees_paid'
    )
    WHERE days > 0`,
})

/** The same for blocks from `from_time` on: 0 without a question to the database where they are too new for any setting. */
export const feesLetGoSince = async (clickhouse: ClickHouseClient, from_time: number): Promise<number> =>
  from_time > Date.now() / 1000 - (LEAST_DAYS - 1) * DAY_SECONDS ? 0 : feesLetGoUntil(clickhouse)

/** The facts without those that were let go up to `until`. */
export const withoutLetGo = (facts: Facts, until: number): Facts => ({
  ...facts,
  fees_paid: facts.fees_paid.filter(({ block_time }) => block_time > until),
})

/** The SQL condition that a row of a table was not let go; the parameter `let_go_until` is the time up to which. */
export const notLetGo = (table: FactTable): string =>
  TABLES[table].retained === 'forever' ? '' : 'AND block_time > {let_go_until: UInt32}'
