-- What ingest has done: the chain, its batches of blocks, what is missing, and what was removed or added later. Rows
-- are only added. A sequence number can be planned only once, because it is the deduplication token of its insert; so
-- two processes can never plan different things under one number.

-- One row: the chain that this database is about.
CREATE TABLE IF NOT EXISTS chain_identity (
    chain_id     UInt64,
    genesis_hash String,
    recorded_at  DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = MergeTree ORDER BY chain_id SETTINGS non_replicated_deduplication_window = 1000;

-- One row when a range of blocks is planned and one when all of its facts are stored. A batch may hold some families of
-- facts only.
--
-- Nothing here is ever merged away, because what was known at an instant depends on when each row was recorded. So each
-- part also keeps a summary, one row for a thousand numbers of a track. The batches follow each other without a gap, an
-- overlap or a repetition exactly if the sum over hash(after its last block) - hash(its first block) is that of one
-- batch from the first block to the last: all others cancel out. A read of every batch takes the summary where that
-- holds, else the rows (clickhouse/chain/covered-ranges.ts). Merges build the summary; a part without one is read as it
-- is. An insert of two rows would spend a quarter of its time on it. The index finds the batches of a day.
CREATE TABLE IF NOT EXISTS ingest_batches (
    track           LowCardinality(String)                COMMENT 'tip, or the name of a backfill',
    sequence_number UInt64                                COMMENT 'counts the batches of a track from 1' CODEC(Delta, ZSTD(1)),
    state           Enum8('planned' = 1, 'committed' = 2),
    from_block      UInt64                                COMMENT 'first block of the range' CODEC(Delta, ZSTD(1)),
    to_block        UInt64                                COMMENT 'last block of the range, included' CODEC(Delta, ZSTD(1)),
    last_hash       String                                COMMENT 'hash of to_block' CODEC(ZSTD(1)),
    writer          String                                COMMENT 'random id of the process that wrote the row' CODEC(ZSTD(1)),
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
    families        Array(LowCardinality(String))         COMMENT 'the families of facts in the batch',
    stables         Array(String)                         COMMENT 'pegs and state are in for these stables only; empty: for all that were not in before',
    INDEX recorded_index recorded_at TYPE minmax GRANULARITY 1,
    PROJECTION thousands (
        SELECT track, state, intDiv(sequence_number, 1000), families, stables,
               min(sequence_number), max(sequence_number), min(from_block), max(to_block), min(recorded_at), max(recorded_at),
               sum(cityHash64(to_block + 1) - cityHash64(from_block))
        GROUP BY track, state, intDiv(sequence_number, 1000), families, stables
    )
) ENGINE = MergeTree ORDER BY (track, sequence_number, state)
SETTINGS non_replicated_deduplication_window = 1000, lightweight_mutation_projection_mode = 'rebuild',
         materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;

-- One row a range of blocks that was tried and is missing, and why. It is a gap until a later batch is committed there.
CREATE TABLE IF NOT EXISTS ingest_gaps (
    family      LowCardinality(String)                COMMENT 'logs, pegs or state',
    from_block  UInt64                                COMMENT 'first block of the range',
    to_block    UInt64                                COMMENT 'last block of the range, included',
    reason      String,
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(recorded_at) ORDER BY (family, from_block, to_block)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row when a rollback of reorganized blocks is planned and one when all of their facts are removed. The blocks
-- after kept_block are no longer part of the chain: of the tip's batches up to after_sequence, only blocks that are not
-- after it count.
CREATE TABLE IF NOT EXISTS ingest_rollbacks (
    sequence_number UInt64                                COMMENT 'counts the rollbacks of this database from 1',
    state           Enum8('planned' = 1, 'done' = 2),
    kept_block      UInt64                                COMMENT 'the last block that stays; 0 when none does',
    kept_hash       String                                COMMENT 'its hash; empty when none stays',
    kept_time       DateTime('UTC')                       COMMENT 'its time; no removed block is older',
    removed_to      UInt64                                COMMENT 'the last block of which anything may have been written',
    after_sequence  UInt64                                COMMENT 'the newest batch of the tip that was planned by then',
    reason          String,
    writer          String                                COMMENT 'random id of the process that wrote the row',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = MergeTree ORDER BY (sequence_number, state) SETTINGS non_replicated_deduplication_window = 1000;

-- One row each time that the jobs see a backfill at its end. A backfill adds blocks before slots that are done, or
-- facts to stored blocks; what those slots found is then not what one pass over all of history finds, and they are run
-- again.
CREATE TABLE IF NOT EXISTS history_changes (
    sequence_number   UInt64                                COMMENT 'counts the changes from 1; may leave numbers out',
    backfill_sequence UInt64                                COMMENT 'the newest batch of the track backfill that this change, or one before it, is about',
    kept_time         DateTime('UTC')                       COMMENT 'time of the oldest block that it is about: slots from here on are due again',
    after_rollback    UInt64                                COMMENT 'the newest rollback that was planned by then; 0 when none was',
    recorded_at       DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = MergeTree ORDER BY sequence_number SETTINGS non_replicated_deduplication_window = 1000;

-- All that makes slots due again, rollbacks and changes of history, in one order: a slot from kept_time on counts as
-- done if it was run under this revision or a higher one. Without changes, a revision is the number of a rollback, and
-- it never becomes less. The columns `revision` of other tables have it. is_rollback: facts were removed, so what was
-- made of them is wrong; else facts were added, and what was made without them is only incomplete. recorded_at: when it
-- became known; of a rollback, when it was planned, because from then on what was made of the removed blocks is no
-- longer shown.
CREATE VIEW IF NOT EXISTS history_revisions AS
SELECT sequence_number + arrayMax(arrayPushBack(arrayMap(change -> if(change.1 < sequence_number, change.2, 0), changes), 0)) AS revision,
       kept_time, is_done, true AS is_rollback, recorded_at
FROM
(
    SELECT sequence_number, any(kept_time) AS kept_time, max(state = 'done')::Bool AS is_done, min(recorded_at) AS recorded_at,
           (SELECT groupUniqArray((after_rollback, sequence_number)) FROM history_changes) AS changes
    FROM ingest_rollbacks GROUP BY sequence_number
)
UNION ALL
SELECT after_rollback + sequence_number AS revision, kept_time, true AS is_done, false AS is_rollback, recorded_at
FROM history_changes;

-- One row a block, contract and topic: logs of one of the chain's own contracts that the version which read them does
-- not understand. Answers that such an event may change are partial from then on.
CREATE TABLE IF NOT EXISTS unknown_events (
    emitter   Enum8('token' = 1, 'factory' = 2, 'exchange' = 3, 'policies' = 4, 'fees' = 5, 'guard' = 6, 'channels' = 7, 'zones' = 8, 'other' = 9),
    contract  LowCardinality(String),
    topic     LowCardinality(String) COMMENT 'the first topic; empty if there is none',
    reason    Enum8('topic' = 1, 'data' = 2, 'order' = 3) COMMENT 'topic: no known event has it; data: the log does not fit the event; order: it names an order or a token that no known event has made',
    log_count UInt32                 COMMENT 'how many such logs the block has; log_index is that of the first',
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1)),
    PROJECTION sightings (
        SELECT emitter, contract, topic, reason, sum(log_count), min(block_number), max(block_number), min(block_time), max(block_time),
               argMax(tx_hash, block_number), argMax(log_index, block_number)
        GROUP BY emitter, contract, topic, reason
    )
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (contract, topic, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000, lightweight_mutation_projection_mode = 'rebuild';
