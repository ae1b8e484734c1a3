-- The windows that live answers use name the instant that they were computed for. The mark and the windows each asked for the
-- newest block before: if the block that passed a mark came in between, windows named the mark and lacked the five minutes before
-- it. Now peg_windows_at returns its instant. Nothing has to be read again: the next refresh, within five minutes, replaces all rows.
CREATE OR REPLACE VIEW peg_windows_at AS
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

DROP VIEW IF EXISTS peg_windows_mv;

CREATE MATERIALIZED VIEW IF NOT EXISTS peg_windows_mv REFRESH EVERY 5 MINUTE OFFSET 15 SECOND TO peg_windows AS
SELECT stable, window_seconds, as_of, quoted_count, unquoted_count, deviation_sum, deviation_square_sum,
       deviation_min, deviation_max, seconds_outside_10bps, seconds_outside_50bps
FROM peg_windows_at(as_of = (SELECT toStartOfFiveMinutes(max(block_time)) FROM blocks));
