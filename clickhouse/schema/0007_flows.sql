-- Flows between stables, and their anomalies. An edge is a pair of two different stables in one direction; bridge flows
-- have one stable only, and belong to no edge. Buckets are aligned quarters of an hour. The other tables follow from
-- the table flows alone.

-- One row a movement of value from one stable to another. Kind swap: a multi-hop swap is one row, first token to last.
-- Kind transfer: two accounts trade one stable for another within a transaction by transfers alone. Kind bridge: a
-- stable leaves for another chain (to_token is empty) or comes from it (from_token is empty).
CREATE TABLE IF NOT EXISTS flows (
    kind           Enum8('swap' = 1, 'transfer' = 2, 'bridge' = 3),
    from_token     LowCardinality(String),
    to_token       LowCardinality(String),
    account        String                           COMMENT 'who swapped; of a transfer, who gave first' CODEC(ZSTD(1)),
    amount_in_raw  UInt128                          COMMENT 'base units of from_token',
    amount_out_raw UInt128                          COMMENT 'base units of to_token',
    usd_micros     Nullable(UInt128)                COMMENT '1e-6 USD at the block''s own prices, the lesser of both sides; null where it is unvalued',
    path           Array(LowCardinality(String))    COMMENT 'from_token, the hops, to_token',
    remote_chain   LowCardinality(Nullable(String)) COMMENT 'eid:<LayerZero endpoint id> or zone:<id>; kind bridge only',
    block_number   UInt64                           CODEC(DoubleDelta, ZSTD(1)),
    log_index      UInt32                           COMMENT 'of the transfer that pays the swap out, of the last transfer back, or of the bridge event',
    block_time     DateTime('UTC')                  CODEC(DoubleDelta, ZSTD(1)),
    tx_hash        String                           CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an edge and window with a flow in it: window_start <= block_time < window_start + 900 s. Ordered by time,
-- because every reader asks for a stretch of time: that stays as cheap however long the history is, and a read with
-- FINAL finds parts that do not overlap, which need no merging. Read with FINAL, or with sum. Flows without a value are
-- counted as unvalued, with their amounts: a flow may have no value although both of its tokens have a price, because
-- nobody knows who traded or no listed stable takes part. A transaction lies in one block and so, with all of its
-- flows, in one insert: so transaction_count may be added up.
CREATE TABLE IF NOT EXISTS flow_buckets (
    window_start      DateTime('UTC')                       CODEC(DoubleDelta, ZSTD(1)),
    from_token        LowCardinality(String),
    to_token          LowCardinality(String),
    edge              UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(from_token, to_token)) COMMENT 'for grouping: several times as fast as by the addresses',
    volume_micros     SimpleAggregateFunction(sum, UInt128) COMMENT '1e-6 USD, of the flows that have a value' CODEC(ZSTD(1)),
    flow_count        SimpleAggregateFunction(sum, UInt64)  CODEC(T64, ZSTD(1)),
    unvalued_count    SimpleAggregateFunction(sum, UInt64)  COMMENT 'flows without a USD value' CODEC(T64, ZSTD(1)),
    unvalued_in_raw   SimpleAggregateFunction(sum, UInt256) COMMENT 'base units of from_token in flows without a USD value' CODEC(ZSTD(1)),
    unvalued_out_raw  SimpleAggregateFunction(sum, UInt256) COMMENT 'base units of to_token in flows without a USD value' CODEC(ZSTD(1)),
    transaction_count SimpleAggregateFunction(sum, UInt64)  COMMENT 'distinct transactions' CODEC(T64, ZSTD(1))
) ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(window_start) ORDER BY (window_start, from_token, to_token)
SETTINGS non_replicated_deduplication_window = 1000 /* here too, or a replayed insert is counted twice */,
         index_granularity = 1024 /* the states of one window are read without those of many others */;

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

-- One row an edge: the window of its first flow, from which on a window without a flow counts as one of zero. To find
-- it in flow_buckets would take all of history. Read with FINAL or min.
CREATE TABLE IF NOT EXISTS flow_edge_starts (
    from_token   LowCardinality(String),
    to_token     LowCardinality(String),
    first_window SimpleAggregateFunction(min, DateTime('UTC'))
) ENGINE = AggregatingMergeTree ORDER BY (from_token, to_token) SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS flow_edge_starts_mv TO flow_edge_starts AS
SELECT from_token, to_token, toDateTime(intDiv(toUnixTimestamp(min(block_time)), 900) * 900, 'UTC') AS first_window
FROM flows
WHERE kind != 'bridge'
GROUP BY from_token, to_token;

-- One row a window of an edge that is an anomaly, as found in the slot at the window's end, with the sums of its score:
-- n = bucket_count windows of the seven days before, with the sum and the sum of squares of their flows. is_deleted = 1
-- takes an anomaly back, after blocks were reorganized. Read with FINAL.
CREATE TABLE IF NOT EXISTS flow_anomalies (
    window_start        DateTime('UTC'),
    from_token          LowCardinality(String),
    to_token            LowCardinality(String),
    observed_micros     UInt128                COMMENT '1e-6 USD in the window; 0 where nothing flowed',
    tx_count            UInt32                 COMMENT 'distinct transactions in the window, those without a USD value too',
    bucket_count        UInt16                 COMMENT 'windows in the baseline',
    observation_count   UInt16                 COMMENT 'of those, with a flow in them',
    baseline_sum        UInt128                COMMENT '1e-6 USD',
    baseline_square_sum UInt256                COMMENT '1e-12 USD²',
    revision            UInt32                 COMMENT 'rollbacks and changes of history when the window was scored',
    is_deleted          UInt8,
    variance_micros     UInt256 ALIAS toUInt256(bucket_count) * baseline_square_sum - toUInt256(baseline_sum) * baseline_sum COMMENT 'n² times the population variance, 1e-12 USD²',
    observed_flow_usd   Float64 ALIAS toFloat64(observed_micros) / 1e6,
    baseline_mean_usd   Float64 ALIAS toFloat64(baseline_sum) / bucket_count / 1e6,
    baseline_stddev_usd Float64 ALIAS sqrt(toFloat64(variance_micros)) / bucket_count / 1e6,
    z_score             Float64 ALIAS toFloat64(toInt256(bucket_count) * toInt256(observed_micros) - toInt256(baseline_sum)) / sqrt(toFloat64(variance_micros)),
    kind                Enum8('surge' = 1, 'drop' = 2, 'silence' = 3) COMMENT 'the rule by which the window is an anomaly',
    silent_windows      UInt16                 COMMENT 'windows without a flow up to and with this one; 0 except in a silence, as in the next three',
    longest_silence     UInt16                 COMMENT 'windows in the longest silence of the week up to the last flow',
    usual_windows       UInt16                 COMMENT 'windows of that week, from the first flow of the edge on',
    usual_active        UInt16                 COMMENT 'of those, with a flow',
    active_mean_usd     Float64 ALIAS toFloat64(baseline_sum) / observation_count / 1e6,
    active_stddev_usd   Float64 ALIAS sqrt(toFloat64(toUInt256(observation_count) * baseline_square_sum - toUInt256(baseline_sum) * baseline_sum)) / observation_count / 1e6,
    silence_probability Float64 ALIAS round(pow((2 * (usual_windows - usual_active) + 1) / (2 * (usual_windows + 1)), silent_windows), 9)
) ENGINE = ReplacingMergeTree(revision, is_deleted) PARTITION BY toYYYYMM(window_start) ORDER BY (window_start, from_token, to_token)
SETTINGS non_replicated_deduplication_window = 1000;
