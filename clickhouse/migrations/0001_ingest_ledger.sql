-- What ingest has done. chain_identity: the one chain this database is about. ingest_batches: one row when a block
-- range is planned and one when all of its facts are in. A sequence number can be planned once only (the insert's
-- deduplication token is the number), so two ingest processes can never plan different ranges under one number.
CREATE TABLE IF NOT EXISTS chain_identity
(
    chain_id     UInt64,
    genesis_hash String,
    recorded_at  DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY chain_id
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS ingest_batches
(
    track           LowCardinality(String)               COMMENT 'tip, or the name of a backfill',
    sequence_number UInt64                               COMMENT 'counts the batches of a track from 1',
    state           Enum8('planned' = 1, 'committed' = 2),
    from_block      UInt64                               COMMENT 'first block of the range',
    to_block        UInt64                               COMMENT 'last block of the range, included',
    last_hash       String                               COMMENT 'hash of to_block',
    writer          String                               COMMENT 'random id of the process that wrote the row',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY (track, sequence_number, state)
SETTINGS non_replicated_deduplication_window = 1000;
