import { z } from 'zod'
import { connect } from '../client.js'
import { defineQuery } from '../define-query.js'
import type { ClickHouseEnv } from '../env.js'
import { QueryError } from '../errors.js'
import { staleMinutes } from '../queries/stale-minutes.js'
import { rebuildPegMinutes } from '../tables/peg-minutes.js'

const LAST_MINUTE_END = 4_294_967_280

const headTime = defineQuery({
  name: 'head_time',
  params: z.object({}),
  row: z.object({ time: z.int() }),
  sql: 'SELECT toUInt32(max(block_time)) AS time FROM blocks',
})

/** Makes what the views have stored agree with the facts again, behind the newest block. May be repeated. */
export async function settleViews(env: ClickHouseEnv): Promise<void> {
  const clickhouse = connect(env, { application: 'plumbline-restore', requestTimeoutMs: 3_600_000 })
  try {
    const [head] = await headTime(clickhouse, {})
    const time = head?.time ?? 0
    const minutes = { first_minute_end: Math.ceil(time / 60) * 60, last_minute_end: LAST_MINUTE_END }
    const [stale] = await staleMinutes(clickhouse, minutes)
    if (stale?.minutes !== 0) await rebuildPegMinutes(clickhouse, minutes)
    // Windows of a later time than the newest block; the refresh puts in the right ones.
    const query = 'DELETE FROM peg_windows WHERE as_of > {time: UInt32}'
    await clickhouse.command({ query, query_params: { time } }).catch((cause) => {
      throw new QueryError(query, cause)
    })
  } finally {
    await clickhouse.close()
  }
}
