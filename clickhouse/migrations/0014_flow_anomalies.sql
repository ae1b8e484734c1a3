-- Flows by edge, a pair of two different stables in one direction, and by time in aligned quarters of an hour. Bridge
-- flows have one stable only, and are no edges. All three tables follow from flows alone.

-- One row an edge and window with a flow in it: window_start <= block_time < window_start + 900 s. Ordered by time, as
-- every reader asks for a stretch of time: that stays as cheap however long the history is, and a read with FINAL finds
-- parts that do not overlap, which need no merging. Read with FINAL, or sum and uniqExactMerge.
CREATE TABLE IF NOT EXISTS flow_buckets
(
    window_start   DateTime('UTC')                       CODEC(DoubleDelta, ZSTD(1)),
    from_token     LowCardinality(String),
    to_token       LowCardinality(String),
    edge           UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(from_token, to_token)) COMMENT 'for grouping: several times as fast as by the addresses',
    volume_micros  SimpleAggregateFunction(sum, UInt128) COMMENT '1e-6 USD, of the flows that have a value' CODEC(ZSTD(1)),
    flow_count     SimpleAggregateFunction(sum, UInt64)  CODEC(T64, ZSTD(1)),
    unpriced_count SimpleAggregateFunction(sum, UInt64)  COMMENT 'flows without a USD value' CODEC(T64, ZSTD(1)),
    tx_count       AggregateFunction(uniqExact, String)  COMMENT 'distinct transactions' CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(window_start) ORDER BY (window_start, from_token, to_token)
SETTINGS non_replicated_deduplication_window = 1000 /* here too, or a replayed insert is counted twice */,
         index_granularity = 1024 /* the states of one window are read without those of many others */;

CREATE MATERIALIZED VIEW IF NOT EXISTS flow_buckets_mv TO flow_buckets AS
SELECT toDateTime(intDiv(toUnixTimestamp(block_time), 900) * 900, 'UTC') AS window_start,
       from_token,
       to_token,
       ifNull(sum(usd_micros), 0) AS volume_micros,
       count() AS flow_count,
       countIf(usd_micros IS NULL) AS unpriced_count,
       uniqExactState(tx_hash) AS tx_count
FROM flows
WHERE kind != 'bridge'
GROUP BY window_start, from_token, to_token;

-- One row an edge: the window of its first flow, from which on a window without a flow counts as one of zero. Kept by
-- itself, because to find it in flow_buckets takes all of history. Read with FINAL or min.
CREATE TABLE IF NOT EXISTS flow_edge_starts
(
    from_token   LowCardinality(String),
    to_token     LowCardinality(String),
    first_window SimpleAggregateFunction(min, DateTime('UTC'))
)
ENGINE = AggregatingMergeTree ORDER BY (from_token, to_token)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS flow_edge_starts_mv TO flow_edge_starts AS
SELECT from_token, to_token, toDateTime(intDiv(toUnixTimestamp(min(block_time)), 900) * 900, 'UTC') AS first_window
FROM flows
WHERE kind != 'bridge'
GROUP BY from_token, to_token;

-- The flows that were there before the views. Ingest does not write while migrations run.
TRUNCATE TABLE flow_buckets;

INSERT INTO flow_buckets
SELECT toDateTime(intDiv(toUnixTimestamp(block_time), 900) * 900, 'UTC') AS window_start, from_token, to_token,
       ifNull(sum(usd_micros), 0), count(), countIf(usd_micros IS NULL), uniqExactState(tx_hash)
FROM flows
WHERE kind != 'bridge'
GROUP BY window_start, from_token, to_token
SETTINGS insert_deduplicate = 0;

TRUNCATE TABLE flow_edge_starts;

INSERT INTO flow_edge_starts
SELECT from_token, to_token, toDateTime(intDiv(toUnixTimestamp(min(block_time)), 900) * 900, 'UTC')
FROM flows
WHERE kind != 'bridge'
GROUP BY from_token, to_token
SETTINGS insert_deduplicate = 0;

-- One row a window of an edge that is an anomaly, as found in the slot at the window's end, with the sums that its
-- score is made of: n = bucket_count windows of the seven days before with the sum and the sum of squares of their
-- flows. Only is_deleted = 0 is an anomaly; 1 takes one back, after blocks were reorganized. Read with FINAL.
CREATE TABLE IF NOT EXISTS flow_anomalies
(
    window_start        DateTime('UTC'),
    from_token          LowCardinality(String),
    to_token            LowCardinality(String),
    observed_micros     UInt128  COMMENT '1e-6 USD in the window; 0 where nothing flowed',
    tx_count            UInt32   COMMENT 'distinct transactions in the window, those without a USD value too',
    bucket_count        UInt16   COMMENT 'windows in the baseline',
    observation_count   UInt16   COMMENT 'of those, with a flow in them',
    baseline_sum        UInt128  COMMENT '1e-6 USD',
    baseline_square_sum UInt256  COMMENT '1e-12 USD²',
    revision            UInt32   COMMENT 'rollbacks that ingest had done when the window was scored',
    is_deleted          UInt8,
    variance_micros     UInt256  ALIAS toUInt256(bucket_count) * baseline_square_sum - toUInt256(baseline_sum) * baseline_sum COMMENT 'n² times the population variance, 1e-12 USD²',
    observed_flow_usd   Float64  ALIAS toFloat64(observed_micros) / 1e6,
    baseline_mean_usd   Float64  ALIAS toFloat64(baseline_sum) / bucket_count / 1e6,
    baseline_stddev_usd Float64  ALIAS sqrt(toFloat64(variance_micros)) / bucket_count / 1e6,
    z_score             Float64  ALIAS toFloat64(toInt256(bucket_count) * toInt256(observed_micros) - toInt256(baseline_sum)) / sqrt(toFloat64(variance_micros))
)
ENGINE = ReplacingMergeTree(revision, is_deleted) PARTITION BY toYYYYMM(window_start) ORDER BY (window_start, from_token, to_token)
SETTINGS non_replicated_deduplication_window = 1000;
