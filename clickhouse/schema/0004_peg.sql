-- The peg: prices of every block, their sums over minutes, and windows.

-- One row a stable and block: what one token sells and buys for in the reference stable at the end of that block. A
-- failed quote is a row too, with its status and without a price. out_of_range: below a half or above twice the amount,
-- which no book allows; such a quote has no price, so that sums of deviations and of their squares cannot overflow.
-- too_deep: more than eight books lie between the stable and the reference stable, and the exchange is not asked.
CREATE TABLE IF NOT EXISTS peg_samples (
    stable           LowCardinality(String) CODEC(ZSTD(1)),
    block_number     UInt64                 CODEC(DoubleDelta, ZSTD(1)),
    block_time       DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)),
    elapsed_seconds  UInt8                  COMMENT 'time this sample speaks for: since the block before, at most 120; 0 for a stable''s first sample' CODEC(ZSTD(1)),
    status           Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7, 'out_of_range' = 8, 'too_deep' = 9) CODEC(ZSTD(1)),
    sell_micros      Nullable(UInt32)       COMMENT '1e-6 reference units got for one token; null when there is no quote' CODEC(Delta, ZSTD(1)),
    buy_micros       Nullable(UInt32)       COMMENT '1e-6 reference units paid for one token; null when there is no quote' CODEC(Delta, ZSTD(1)),
    deviation_micros Nullable(Int32) ALIAS toInt32(sell_micros) - 1000000 COMMENT 'signed; 100 are one basis point'
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stable and minute. The minute ending at minute_end holds the samples with minute_end - 60 s < block_time <=
-- minute_end, because a sample speaks for the time before it. Integer sums only, so that merging minutes gives the same
-- digits as adding up samples. Read with sum, min and max over the columns of those names.
CREATE TABLE IF NOT EXISTS peg_minutes (
    stable                LowCardinality(String),
    minute_end            DateTime('UTC')                      CODEC(DoubleDelta, ZSTD(1)),
    quoted_count          SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    unquoted_count        SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    deviation_sum         SimpleAggregateFunction(sum, Int64)  COMMENT '1e-6, signed' CODEC(ZSTD(1)),
    deviation_square_sum  SimpleAggregateFunction(sum, UInt64) COMMENT '1e-12' CODEC(ZSTD(1)),
    deviation_min         SimpleAggregateFunction(min, Nullable(Int32)) COMMENT '1e-6, signed' CODEC(ZSTD(1)),
    deviation_max         SimpleAggregateFunction(max, Nullable(Int32)) COMMENT '1e-6, signed' CODEC(ZSTD(1)),
    seconds_outside_10bps SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    seconds_outside_50bps SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD(1)),
    last_quoted           SimpleAggregateFunction(max, Tuple(UInt64, Int32)) COMMENT 'block of the last quoted sample and its deviation, 1e-6, signed; (0, 0) without one' CODEC(ZSTD(1))
) ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(minute_end) ORDER BY (stable, minute_end)
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
       sumIf(elapsed_seconds, abs(deviation) > 5000) AS seconds_outside_50bps,
       maxIf((block_number, toInt32(assumeNotNull(deviation))), sell_micros IS NOT NULL) AS last_quoted
FROM peg_samples
GROUP BY stable, minute_end;

-- One row a stable and hour with a sample: when it was first sampled in the hour, and when it last had a price there.
-- With it the last price of any stable, however long ago, is found without reading its samples. Read with min and max
-- over the columns of those names: repeating an insert changes nothing.
CREATE TABLE IF NOT EXISTS peg_quote_hours (
    stable        LowCardinality(String),
    hour          DateTime('UTC')        COMMENT 'holds the samples with hour <= block_time < hour + 1 h' CODEC(DoubleDelta, ZSTD(1)),
    first_sampled SimpleAggregateFunction(min, DateTime('UTC')) COMMENT 'time of the first sample' CODEC(ZSTD(1)),
    last_quoted   SimpleAggregateFunction(max, Nullable(DateTime('UTC'))) COMMENT 'time of the last sample with a price; null without one' CODEC(ZSTD(1))
) ENGINE = AggregatingMergeTree ORDER BY (stable, hour);

CREATE MATERIALIZED VIEW IF NOT EXISTS peg_quote_hours_mv TO peg_quote_hours AS
SELECT stable, toStartOfHour(block_time) AS hour, min(block_time) AS first_sampled, maxOrNullIf(block_time, sell_micros IS NOT NULL) AS last_quoted
FROM peg_samples
GROUP BY stable, hour;

-- The 1h, 24h and 7d windows of every stable as of one instant: a function of the facts and that instant, for any past
-- moment. A window of length W as of T is (T - W, T]. Whole minutes come from peg_minutes. The last part of a minute
-- comes from the samples themselves, and so do a window's first two to three minutes, because there a sample's time may
-- reach back over the window's start (a sample speaks for at most 120 s) and is clipped to it.
CREATE VIEW IF NOT EXISTS peg_windows_at AS
WITH {as_of: DateTime('UTC')} AS as_of,
     toStartOfMinute(as_of) AS tail,
     toStartOfMinute(as_of - 3600 + 59) + 120 AS head_1h,
     toStartOfMinute(as_of - 86400 + 59) + 120 AS head_24h,
     toStartOfMinute(as_of - 604800 + 59) + 120 AS head_7d
SELECT stable, window_seconds, as_of,
       sum(quoted) AS quoted_count, sum(unquoted) AS unquoted_count,
       sum(d1) AS deviation_sum, sum(d2) AS deviation_square_sum,
       min(low) AS deviation_min, max(high) AS deviation_max,
       sum(outside_10bps) AS seconds_outside_10bps, sum(outside_50bps) AS seconds_outside_50bps
FROM
(
    SELECT stable, multiIf(minute_end > head_1h, [3600, 86400, 604800], minute_end > head_24h, [86400, 604800], [604800]) AS windows,
           sum(quoted_count) AS quoted, sum(unquoted_count) AS unquoted,
           sum(deviation_sum) AS d1, sum(deviation_square_sum) AS d2,
           min(deviation_min) AS low, max(deviation_max) AS high,
           sum(seconds_outside_10bps) AS outside_10bps, sum(seconds_outside_50bps) AS outside_50bps
    FROM peg_minutes
    WHERE minute_end > head_7d AND minute_end <= tail
    GROUP BY stable, windows
    UNION ALL
    SELECT stable, windows, count(deviation), countIf(deviation IS NULL),
           ifNull(sum(deviation), 0), ifNull(sum(toUInt64(deviation * deviation)), 0),
           toInt32(min(deviation)), toInt32(max(deviation)),
           sumIf(seconds, abs(deviation) > 1000), sumIf(seconds, abs(deviation) > 5000)
    FROM
    (
        SELECT stable, toInt64(sell_micros) - 1000000 AS deviation,
               multiIf(block_time > tail, [3600, 86400, 604800], block_time > as_of - 3600, [3600], block_time > as_of - 86400, [86400], [604800]) AS windows,
               toUInt64(least(elapsed_seconds, block_time - as_of + windows[1])) AS seconds
        FROM peg_samples
        WHERE (block_time > tail AND block_time <= as_of)
           OR (block_time > as_of - 3600 AND block_time <= head_1h)
           OR (block_time > as_of - 86400 AND block_time <= head_24h)
           OR (block_time > as_of - 604800 AND block_time <= head_7d)
    )
    GROUP BY stable, windows
)
ARRAY JOIN windows AS window_seconds
GROUP BY stable, window_seconds;

-- The windows that live answers use: every stable's, as of the last five-minute mark that the newest block has passed.
-- Recomputed shortly after each mark. Readers check as_of, because nothing is here before the first refresh.
CREATE TABLE IF NOT EXISTS peg_windows (
    stable                LowCardinality(String),
    window_seconds        UInt32,
    as_of                 DateTime('UTC'),
    quoted_count          UInt64,
    unquoted_count        UInt64,
    deviation_sum         Int64                  COMMENT '1e-6, signed',
    deviation_square_sum  UInt64                 COMMENT '1e-12',
    deviation_min         Nullable(Int32)        COMMENT '1e-6, signed',
    deviation_max         Nullable(Int32)        COMMENT '1e-6, signed',
    seconds_outside_10bps UInt64,
    seconds_outside_50bps UInt64
) ENGINE = MergeTree ORDER BY (stable, window_seconds);

CREATE MATERIALIZED VIEW IF NOT EXISTS peg_windows_mv REFRESH EVERY 5 MINUTE OFFSET 15 SECOND TO peg_windows AS
SELECT stable, window_seconds, as_of, quoted_count, unquoted_count, deviation_sum, deviation_square_sum,
       deviation_min, deviation_max, seconds_outside_10bps, seconds_outside_50bps
FROM peg_windows_at(as_of = (SELECT toStartOfFiveMinutes(max(block_time)) FROM blocks));
