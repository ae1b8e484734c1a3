-- One row a stable and block: what one token sells and buys for in the reference stable at the end of that block. A
-- quote that failed is a row too, with its status and no price.
CREATE TABLE IF NOT EXISTS peg_samples
(
    stable          LowCardinality(String)          CODEC(ZSTD(1)),
    block_number    UInt64                          CODEC(DoubleDelta, ZSTD(1)),
    block_time      DateTime('UTC')                 CODEC(DoubleDelta, ZSTD(1)),
    elapsed_seconds UInt8                           COMMENT 'time this sample speaks for: since the block before, at most 120; 0 for a stable''s first sample' CODEC(ZSTD(1)),
    status          Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7) CODEC(ZSTD(1)),
    sell_micros     Nullable(UInt32)                COMMENT '1e-6 reference units got for one token; null when there is no quote' CODEC(Delta, ZSTD(1)),
    buy_micros      Nullable(UInt32)                COMMENT '1e-6 reference units paid for one token; null when there is no quote' CODEC(Delta, ZSTD(1)),
    deviation_micros Nullable(Int32)                ALIAS toInt32(sell_micros) - 1000000 COMMENT 'signed; 100 are one basis point'
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stable and minute. The minute ending at minute_end holds the samples with minute_end - 60 s < block_time <=
-- minute_end, because a sample speaks for the time before it. Integer sums only, so that merging minutes gives the same
-- digits as adding up samples. Read with sum, min and max over the columns of those names.
CREATE TABLE IF NOT EXISTS peg_minutes
(
    stable                LowCardinality(String),
    minute_end            DateTime('UTC')                                CODEC(DoubleDelta, ZSTD(1)),
    quoted_count          SimpleAggregateFunction(sum, UInt64)           CODEC(T64, ZSTD(1)),
    unquoted_count        SimpleAggregateFunction(sum, UInt64)           CODEC(T64, ZSTD(1)),
    deviation_sum         SimpleAggregateFunction(sum, Int64)            COMMENT '1e-6, signed' CODEC(ZSTD(1)),
    deviation_square_sum  SimpleAggregateFunction(sum, UInt64)           COMMENT '1e-12' CODEC(ZSTD(1)),
    deviation_min         SimpleAggregateFunction(min, Nullable(Int32))  COMMENT '1e-6, signed' CODEC(ZSTD(1)),
    deviation_max         SimpleAggregateFunction(max, Nullable(Int32))  COMMENT '1e-6, signed' CODEC(ZSTD(1)),
    seconds_outside_10bps SimpleAggregateFunction(sum, UInt64)           CODEC(T64, ZSTD(1)),
    seconds_outside_50bps SimpleAggregateFunction(sum, UInt64)           CODEC(T64, ZSTD(1))
)
ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(minute_end) ORDER BY (stable, minute_end)
SETTINGS non_replicated_deduplication_window = 1000 /* here too, or a replayed insert is counted twice */;

CREATE MATERIALIZED VIEW IF NOT EXISTS peg_minutes_mv TO peg_minutes AS
WITH toInt64(sell_micros) - 1000000 AS deviation
SELECT stable,
       toStartOfMinute(block_time + 59) AS minute_end,
       count(sell_micros) AS quoted_count,
       countIf(sell_micros IS NULL) AS unquoted_count,
       ifNull(sum(deviation), 0) AS deviation_sum,
       ifNull(sum(toUInt64(deviation * deviation)), 0) AS deviation_square_sum,
       toInt32(min(deviation)) AS deviation_min,
       toInt32(max(deviation)) AS deviation_max,
       sumIf(elapsed_seconds, abs(deviation) > 1000) AS seconds_outside_10bps,
       sumIf(elapsed_seconds, abs(deviation) > 5000) AS seconds_outside_50bps
FROM peg_samples
GROUP BY stable, minute_end;
