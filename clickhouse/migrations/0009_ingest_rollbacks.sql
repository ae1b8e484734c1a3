-- One row when a rollback of reorganized blocks is planned and one when all of its facts are out. The blocks after
-- kept_block are no longer part of the chain: of the tip's batches up to after_sequence only those blocks count that are
-- not after it. A number can be planned once only, as with ingest_batches.
CREATE TABLE IF NOT EXISTS ingest_rollbacks
(
    sequence_number UInt64                             COMMENT 'counts the rollbacks of this database from 1',
    state           Enum8('planned' = 1, 'done' = 2),
    kept_block      UInt64                             COMMENT 'the last block that stays; 0 when none does',
    kept_hash       String                             COMMENT 'its hash; empty when none stays',
    kept_time       DateTime('UTC')                    COMMENT 'its time; no removed block is older',
    removed_to      UInt64                             COMMENT 'the last block of which anything may have been written',
    after_sequence  UInt64                             COMMENT 'the newest batch of the tip that was planned by then',
    reason          String,
    writer          String                             COMMENT 'random id of the process that wrote the row',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY (sequence_number, state)
SETTINGS non_replicated_deduplication_window = 1000;
