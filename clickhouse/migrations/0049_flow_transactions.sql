-- How many transactions a bucket has becomes a sum like its other columns: a transaction lies in one block, and so, with all of
-- its flows, in one insert. The hashes that were kept to count it across inserts were most of the bytes of a bucket and of the
-- time of a read. Ingest does not write while migrations run, so that no flow is missed between the two views.
DROP VIEW IF EXISTS flow_buckets_mv;

-- tx_count is only added where this migration was killed after it had dropped it. Then no bucket is without a count, because
-- each has a flow, and none is set again.
ALTER TABLE flow_buckets
    ADD COLUMN IF NOT EXISTS tx_count AggregateFunction(uniqExact, String),
    ADD COLUMN IF NOT EXISTS transaction_count SimpleAggregateFunction(sum, UInt64) COMMENT 'distinct transactions' CODEC(T64, ZSTD(1));

ALTER TABLE flow_buckets
    UPDATE transaction_count = finalizeAggregation(tx_count) WHERE transaction_count = 0
    SETTINGS mutations_sync = 1;

ALTER TABLE flow_buckets DROP COLUMN IF EXISTS tx_count;

CREATE MATERIALIZED VIEW IF NOT EXISTS flow_buckets_mv TO flow_buckets AS
SELECT toDateTime(intDiv(toUnixTimestamp(block_time), 900) * 900, 'UTC') AS window_start,
       from_token,
       to_token,
       ifNull(sum(usd_micros), 0) AS volume_micros,
       count() AS flow_count,
       countIf(usd_micros IS NULL) AS unvalued_count,
       sumIf(toUInt256(amount_in_raw), usd_micros IS NULL) AS unvalued_in_raw,
       sumIf(toUInt256(amount_out_raw), usd_micros IS NULL) AS unvalued_out_raw,
       uniqExact(tx_hash) AS transaction_count
FROM flows
WHERE kind != 'bridge'
GROUP BY window_start, from_token, to_token;
