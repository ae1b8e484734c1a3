-- The last price of each minute, so that a series of all stables can be read from minutes alone. States of minutes that are
-- stored already get it from their samples: a state that has nothing else changes no sum. May be repeated.
ALTER TABLE peg_minutes
    ADD COLUMN IF NOT EXISTS last_quoted SimpleAggregateFunction(max, Tuple(UInt64, Int32)) COMMENT 'block of the last quoted sample and its deviation, 1e-6, signed; (0, 0) without one' CODEC(ZSTD(1));

ALTER TABLE peg_minutes_mv MODIFY QUERY
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

INSERT INTO peg_minutes (stable, minute_end, last_quoted)
SELECT stable, toStartOfMinute(block_time + 59) AS minute_end, max((block_number, toInt32(assumeNotNull(sell_micros)) - 1000000)) AS last_quoted
FROM peg_samples
WHERE sell_micros IS NOT NULL
GROUP BY stable, minute_end;
