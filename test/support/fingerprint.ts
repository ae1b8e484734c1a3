import type { ClickHouseClient } from '@clickhouse/client'
import { factTables } from '../../clickhouse/facts/facts.js'

const json = async (clickhouse: ClickHouseClient, query: string): Promise<unknown[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json()

/**
 * The contents of a database in a comparable form: for every facts table the number of rows and the sum of their
 * hashes, and every minute state and flow bucket as a reader of the view's table sees it.
 */
export async function fingerprint(clickhouse: ClickHouseClient): Promise<Record<string, unknown>> {
  const facts = await Promise.all(
    factTables.map(async (table) => [
      table,
      await json(
        clickhouse,
        `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS hash FROM (SELECT * FROM ${table} ORDER BY ALL)`,
      ),
    ]),
  )
  const minutes = await json(
    clickhouse,
    `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS hash, sum(q) AS quoted, sum(u) AS unquoted, sum(o) AS outside FROM
     (
         SELECT stable, minute_end, sum(quoted_count) AS q, sum(unquoted_count) AS u, sum(deviation_sum), sum(deviation_square_sum),
                min(deviation_min), max(deviation_max), sum(seconds_outside_10bps) AS o, sum(seconds_outside_50bps)
         FROM peg_minutes GROUP BY stable, minute_end ORDER BY ALL
     )`,
  )
  const hours = await json(
    clickhouse,
    `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS hash FROM
     (SELECT stable, hour, min(first_sampled), max(last_quoted) FROM peg_quote_hours GROUP BY stable, hour ORDER BY ALL)`,
  )
  const buckets = await json(
    clickhouse,
    `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS hash, sum(flows) AS flows, sum(transactions) AS transactions FROM
     (
         SELECT window_start, from_token, to_token, sum(volume_micros), sum(flow_count) AS flows, sum(unvalued_count), sum(unvalued_in_raw), sum(unvalued_out_raw),
                sum(transaction_count) AS transactions
         FROM flow_buckets GROUP BY window_start, from_token, to_token ORDER BY ALL
     )`,
  )
  const edges = await json(
    clickhouse,
    `SELECT from_token, to_token, min(first_window) AS first_window FROM flow_edge_starts GROUP BY ALL ORDER BY ALL`,
  )
  const choices = await json(
    clickhouse,
    `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS hash FROM (SELECT * FROM fee_choices FINAL ORDER BY ALL)`,
  )
  return { ...Object.fromEntries(facts), minutes, hours, buckets, edges, choices }
}
