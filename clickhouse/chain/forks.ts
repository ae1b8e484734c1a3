import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime } from '../store/values.js'

/** A fork and when it becomes active, in unix seconds. */
export type ForkTime = { name: string; activation_time: number }

/** The forks of the chain. Times in unix seconds. */
export type ForkSchedule = {
  /** The newest fork that is active, as the node lists it; null if it lists none. */
  active: string | null
  /** When each came. */
  schedule: readonly ForkTime[]
  /** Those that the version of ingest does not handle, active or to come. */
  unhandled: ReadonlyArray<{ name: string; activation_time: number; is_active: boolean }>
}

/** Records that these are the forks now. */
export const insertForkSchedule = (
  clickhouse: ClickHouseClient,
  { active, schedule, unhandled }: ForkSchedule,
): Promise<void> =>
  insertRows(
    clickhouse,
    'chain_forks',
    [
      {
        program: 'ingest',
        active: active ?? '',
        schedule: schedule.map(({ name, activation_time }) => [name, activation_time]),
        unhandled: unhandled.map((fork) => [fork.name, fork.activation_time, fork.is_active]),
      },
    ],
    randomUUID(),
  )

const Fork = z.object({ name: z.string(), activation_time: z.number() })
const Unhandled = z.object({ name: z.string(), activation_time: z.number(), is_active: z.boolean() })

/** The forks as ingest last recorded them, and when it did; null before. `active` is null if its node does not list them. */
export const forkSchedule = defineOptionalRow({
  name: 'fork_schedule',
  row: z.object({
    active: z.string().nullable(),
    schedule: z.array(Fork),
    unhandled: z.array(Unhandled),
    noted_at: dateTime,
  }),
  sql: `
    SELECT nullIf(active, '') AS active, CAST(schedule, 'Array(Tuple(name String, activation_time UInt32))') AS schedule, CAST(unhandled, 'Array(Tuple(name String, activation_time UInt32, is_active Bool))') AS unhandled, noted_at
    FROM chain_forks ORDER BY chain_forks.noted_at DESC LIMIT 1`,
})
