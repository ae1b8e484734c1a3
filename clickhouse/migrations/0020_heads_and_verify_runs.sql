-- How the service itself is. chain_heads: the newest block that ingest may read, as its node says it, noted every few
-- seconds whether or not it is new; the newest row of a tag counts, older ones go with the next merge.
CREATE TABLE IF NOT EXISTS chain_heads
(
    tag          LowCardinality(String)               COMMENT 'finalized; latest on a chain without finality',
    block_number UInt64,
    block_time   DateTime('UTC'),
    seen_at      DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(seen_at) ORDER BY tag
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a finding of a run of `npm run verify`: what was checked, and whether it held.
CREATE TABLE IF NOT EXISTS verify_runs
(
    run_id      String,
    started_at  DateTime64(3, 'UTC'),
    ended_at    DateTime64(3, 'UTC'),
    position    UInt16                                               COMMENT 'place of the finding in its run, from 0',
    what        String,
    status      Enum8('match' = 1, 'mismatch' = 2, 'not checked' = 3),
    scope       String                                               COMMENT 'how much was compared, or why nothing was',
    differences Array(String)                                        COMMENT 'the first few'
)
ENGINE = MergeTree ORDER BY (ended_at, run_id, position)
SETTINGS non_replicated_deduplication_window = 1000;
