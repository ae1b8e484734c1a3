-- A batch may hold some families of facts only, and of those that are read for each stable, some stables only. What was
-- recorded before holds everything. ingest_gaps: one row a range of blocks that was tried and is missing, and why; it
-- is a gap no longer where a later batch is committed.
ALTER TABLE ingest_batches
    ADD COLUMN IF NOT EXISTS families Array(LowCardinality(String)) DEFAULT ['catalogue', 'logs', 'pegs', 'state']
        COMMENT 'the families of facts in the batch';

ALTER TABLE ingest_batches
    ADD COLUMN IF NOT EXISTS stables Array(String)
        COMMENT 'pegs and state are in for these stables only; empty: for all that were not in before';

CREATE TABLE IF NOT EXISTS ingest_gaps
(
    family      LowCardinality(String)                 COMMENT 'logs, pegs or state',
    from_block  UInt64                                 COMMENT 'first block of the range',
    to_block    UInt64                                 COMMENT 'last block of the range, included',
    reason      String,
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(recorded_at) ORDER BY (family, from_block, to_block)
SETTINGS non_replicated_deduplication_window = 1000;
