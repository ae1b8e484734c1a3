-- One row a stable and hour with a peg sample: when it was first sampled in the hour, and when it last had a price there.
-- With it the last price of any stable, however long ago, is found without reading its samples. Read with min and max over
-- the columns of those names: repeating an insert changes nothing.
CREATE TABLE IF NOT EXISTS peg_quote_hours
(
    stable        LowCardinality(String),
    hour          DateTime('UTC')                                         COMMENT 'holds the samples with hour <= block_time < hour + 1 h' CODEC(DoubleDelta, ZSTD(1)),
    first_sampled SimpleAggregateFunction(min, DateTime('UTC'))           COMMENT 'time of the first sample' CODEC(ZSTD(1)),
    last_quoted   SimpleAggregateFunction(max, Nullable(DateTime('UTC'))) COMMENT 'time of the last sample with a price; null without one' CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree ORDER BY (stable, hour);

CREATE MATERIALIZED VIEW IF NOT EXISTS peg_quote_hours_mv TO peg_quote_hours AS
SELECT stable, toStartOfHour(block_time) AS hour, min(block_time) AS first_sampled, maxOrNullIf(block_time, sell_micros IS NOT NULL) AS last_quoted
FROM peg_samples
GROUP BY stable, hour;

-- The samples that are there already. May be repeated.
INSERT INTO peg_quote_hours
SELECT stable, toStartOfHour(block_time) AS hour, min(block_time) AS first_sampled, maxOrNullIf(block_time, sell_micros IS NOT NULL) AS last_quoted
FROM peg_samples
GROUP BY stable, hour;
