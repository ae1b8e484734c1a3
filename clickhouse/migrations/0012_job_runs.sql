-- What the jobs have done. A slot is the instant a run is about: its work is a function of the facts with block_time <=
-- slot_at, so it is due once a later block is in, and repeating it gives the same rows. One row each time a run of a
-- slot ends. Where a rollback removes blocks before a slot, the slot is due again, under the next revision.
CREATE TABLE IF NOT EXISTS job_runs
(
    job         LowCardinality(String),
    slot_at     DateTime('UTC'),
    revision    UInt32                  COMMENT 'rollbacks that ingest had done when the slot was run',
    state       Enum8('done' = 1, 'failed' = 2),
    result_rows UInt64                  COMMENT 'rows that the run wrote',
    error       String                  COMMENT 'empty when done',
    started_at  DateTime64(3, 'UTC'),
    duration_ms UInt32,
    instance    String                  COMMENT 'random id of the process that ran it'
)
ENGINE = MergeTree ORDER BY (job, slot_at, revision, started_at)
SETTINGS non_replicated_deduplication_window = 1000;
