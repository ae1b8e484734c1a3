-- Flows without a value are counted as unvalued, with their amounts beside: what moved is known, only not what it was
-- worth. The count has a new name, because a flow may have no value although both of its tokens have a price: nobody
-- knows who traded, or no listed stable takes part. Flows stored so far stay as they are until their blocks are read into
-- a new database; npm run verify names those that differ.
ALTER TABLE flows MODIFY COLUMN usd_micros COMMENT '1e-6 USD at the block''s own prices, the lesser of both sides; null where it is unvalued';

-- Ingest does not write while migrations run, so that no flow is missed between the two views.
DROP VIEW IF EXISTS flow_buckets_mv;

ALTER TABLE flow_buckets RENAME COLUMN IF EXISTS unpriced_count TO unvalued_count;

ALTER TABLE flow_buckets
    ADD COLUMN IF NOT EXISTS unvalued_in_raw  SimpleAggregateFunction(sum, UInt256) COMMENT 'base units of from_token in flows without a USD value' CODEC(ZSTD(1)) AFTER unvalued_count,
    ADD COLUMN IF NOT EXISTS unvalued_out_raw SimpleAggregateFunction(sum, UInt256) COMMENT 'base units of to_token in flows without a USD value' CODEC(ZSTD(1)) AFTER unvalued_in_raw,
    MODIFY COLUMN unvalued_count COMMENT 'flows without a USD value';

CREATE MATERIALIZED VIEW IF NOT EXISTS flow_buckets_mv TO flow_buckets AS
SELECT toDateTime(intDiv(toUnixTimestamp(block_time), 900) * 900, 'UTC') AS window_start,
       from_token,
       to_token,
       ifNull(sum(usd_micros), 0) AS volume_micros,
       count() AS flow_count,
       countIf(usd_micros IS NULL) AS unvalued_count,
       sumIf(toUInt256(amount_in_raw), usd_micros IS NULL) AS unvalued_in_raw,
       sumIf(toUInt256(amount_out_raw), usd_micros IS NULL) AS unvalued_out_raw,
       uniqExactState(tx_hash) AS tx_count
FROM flows
WHERE kind != 'bridge'
GROUP BY window_start, from_token, to_token;

-- The buckets so far, with the amounts of their unvalued flows.
TRUNCATE TABLE flow_buckets;

INSERT INTO flow_buckets (window_start, from_token, to_token, volume_micros, flow_count, unvalued_count, unvalued_in_raw, unvalued_out_raw, tx_count)
SELECT toDateTime(intDiv(toUnixTimestamp(block_time), 900) * 900, 'UTC') AS window_start, from_token, to_token,
       ifNull(sum(usd_micros), 0), count(), countIf(usd_micros IS NULL),
       sumIf(toUInt256(amount_in_raw), usd_micros IS NULL), sumIf(toUInt256(amount_out_raw), usd_micros IS NULL),
       uniqExactState(tx_hash)
FROM flows
WHERE kind != 'bridge'
GROUP BY window_start, from_token, to_token
SETTINGS insert_deduplicate = 0;
