/**
 * SQL for a WITH: `parts`, rows of what flowed on an edge in a part of [{from: DateTime}, {to: DateTime}), with its window
 * of 15 minutes. Whole windows come from flow_buckets, the ends from the flows themselves; a transaction has one time,
 * so that counts of transactions add up. The digits are those of the flows.
 */
export const FLOW_PARTS = `
  toUInt32(toUnixTimestamp({from: DateTime})) AS range_from, toUInt32(toUnixTimestamp({to: DateTime})) AS range_to,
  least(toUInt32(intDiv(toUInt64(range_from) + 899, 900) * 900), range_to) AS whole_from,
  greatest(toUInt32(intDiv(range_to, 900) * 900), whole_from) AS whole_to,
  parts AS
  (
      SELECT from_token, to_token, window_start, volume_micros AS micros, finalizeAggregation(tx_count) AS transactions, unpriced_count AS unpriced
      FROM flow_buckets FINAL
      WHERE window_start >= toDateTime(whole_from, 'UTC') AND window_start < toDateTime(whole_to, 'UTC')
      UNION ALL
      SELECT from_token, to_token, toStartOfFifteenMinutes(block_time) AS window_start, ifNull(sum(usd_micros), 0),
             uniqExact(tx_hash), countIf(usd_micros IS NULL)
      FROM flows
      WHERE kind != 'bridge'
        AND ((block_time >= toDateTime(range_from, 'UTC') AND block_time < toDateTime(whole_from, 'UTC'))
          OR (block_time >= toDateTime(whole_to, 'UTC') AND block_time < toDateTime(range_to, 'UTC')))
      GROUP BY from_token, to_token, window_start
  )`
