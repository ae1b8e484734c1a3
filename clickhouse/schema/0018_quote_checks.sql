-- One row a day: how often the node was asked for quotes that the exchange's books gave too. Each batch of blocks adds
-- to it once; blocks that a rollback removed stay, because they were compared.
CREATE TABLE IF NOT EXISTS quote_checks (
    day         DateTime('UTC')                      COMMENT 'beginning of the day of the last block of the batch',
    blocks      SimpleAggregateFunction(sum, UInt64) COMMENT 'at which both were read',
    quotes      SimpleAggregateFunction(sum, UInt64) COMMENT 'of a size each, that were compared',
    differences SimpleAggregateFunction(sum, UInt64) COMMENT 'of them'
) ENGINE = AggregatingMergeTree ORDER BY day SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stretch of blocks in whose batches a quote differed; those of the node are stored there, where it had them. A stretch that
-- goes on replaces its row.
CREATE TABLE IF NOT EXISTS quote_disagreements (
    from_block  UInt64,
    scope       String                        COMMENT 'of a backfill, the families and stables that it read; of the tip, the rollback before it',
    to_block    UInt64,
    from_time   DateTime('UTC'),
    to_time     DateTime('UTC'),
    stables     Array(String)                 COMMENT 'whose quotes differ, at most 20',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(to_block) ORDER BY (from_block, scope) SETTINGS non_replicated_deduplication_window = 1000;
