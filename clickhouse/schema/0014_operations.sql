-- How the service itself runs: jobs, the node, checks, and how long rows are kept.

-- One row each time that a run of a slot ends. A slot is the instant that a run is about: its work is a function of the
-- facts with block_time <= slot_at, so it is due once a later block is stored, and repeating it gives the same rows.
-- Where a rollback removes blocks before a slot, the slot is due again, under the next revision.
--
-- A year has some 400,000 runs, none of which may ever be deleted: a slot without one is due. So each part also keeps,
-- for each job and day, which slots were run (as seconds of that day), the newest of them, and when the first and the
-- last run ended (clickhouse/jobs/done-slots.ts). A part without this summary is read as it is. The index finds the
-- runs of the last day.
CREATE TABLE IF NOT EXISTS job_runs (
    job         LowCardinality(String),
    slot_at     DateTime('UTC'),
    revision    UInt32                          COMMENT 'rollbacks and changes of history when the slot was run',
    state       Enum8('done' = 1, 'failed' = 2),
    result_rows UInt64                          COMMENT 'rows that the run wrote',
    error       String                          COMMENT 'empty when done' CODEC(ZSTD(1)),
    started_at  DateTime64(3, 'UTC'),
    duration_ms UInt32,
    instance    String                          COMMENT 'random id of the process that ran it' CODEC(ZSTD(1)),
    INDEX ended_index addMilliseconds(started_at, duration_ms) TYPE minmax GRANULARITY 1,
    PROJECTION days (
        SELECT job, state, toDate(slot_at), revision, count(), max(slot_at), min(addMilliseconds(started_at, duration_ms)),
               max(addMilliseconds(started_at, duration_ms)), groupBitmapState(toUnixTimestamp(slot_at) % 86400)
        GROUP BY job, state, toDate(slot_at), revision
    )
) ENGINE = MergeTree ORDER BY (job, slot_at, revision, started_at)
SETTINGS non_replicated_deduplication_window = 1000, lightweight_mutation_projection_mode = 'rebuild';

-- Which process runs the jobs. Terms count from 1, and the process with the newest one runs them. A term can be claimed
-- only once (the insert's deduplication token is the term), so no two processes ever have the same. One row when a term
-- is claimed, one while it is held, which later ones replace, and one when it is given up.
CREATE TABLE IF NOT EXISTS job_leases (
    term        UInt64,
    state       Enum8('claimed' = 1, 'held' = 2, 'released' = 3),
    instance    String                                COMMENT 'random id of the process',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(recorded_at) ORDER BY (term, state) SETTINGS non_replicated_deduplication_window = 1000;

-- The newest block that ingest may read, according to its node, noted every few seconds whether or not it is new. The
-- newest row of a tag counts; older ones go with the next merge.
CREATE TABLE IF NOT EXISTS chain_heads (
    tag          LowCardinality(String)                COMMENT 'finalized; latest on a chain without finality',
    block_number UInt64,
    block_time   DateTime('UTC'),
    seen_at      DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(seen_at) ORDER BY tag SETTINGS non_replicated_deduplication_window = 1000;

-- How the node answers ingest: its calls of the last minute by their result, noted every few seconds whether or not the
-- node answers. The newest row counts; older ones go with the next merge.
CREATE TABLE IF NOT EXISTS node_calls (
    program       LowCardinality(String)                COMMENT 'who asks: ingest',
    ok            UInt32                                COMMENT 'calls of the last minute that were answered',
    limited       UInt32                                COMMENT 'refused because the node was asked too often',
    too_large     UInt32                                COMMENT 'refused because of too many blocks or results',
    no_state      UInt32                                COMMENT 'refused because the node has dropped the state of the block',
    late          UInt32                                COMMENT 'not answered in time',
    failed        UInt32                                COMMENT 'failed in another way',
    chain_changes UInt32                                COMMENT 'times in the last hour that the chain no longer matched what was read',
    noted_at      DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(noted_at) ORDER BY program SETTINGS non_replicated_deduplication_window = 1000;

-- The forks of the chain as ingest's node lists them, noted when ingest starts and every hour. The newest row counts.
CREATE TABLE IF NOT EXISTS chain_forks (
    program   LowCardinality(String)                COMMENT 'who asks: ingest',
    active    String                                COMMENT 'the newest fork that is active',
    unhandled Array(Tuple(String, UInt32, Bool))    COMMENT 'those that this version does not handle: name, time of activation in unix seconds, whether it is active',
    noted_at  DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(noted_at) ORDER BY program SETTINGS non_replicated_deduplication_window = 1000;

-- One row a finding of a run of `npm run verify`: what was checked, and whether it held.
CREATE TABLE IF NOT EXISTS verify_runs (
    run_id      String,
    started_at  DateTime64(3, 'UTC'),
    ended_at    DateTime64(3, 'UTC'),
    position    UInt16               COMMENT 'place of the finding in its run, from 0',
    what        String,
    status      Enum8('match' = 1, 'mismatch' = 2, 'not checked' = 3),
    scope       String               COMMENT 'how much was compared, or why nothing was',
    differences Array(String)        COMMENT 'the first few'
) ENGINE = MergeTree ORDER BY (ended_at, run_id, position) SETTINGS non_replicated_deduplication_window = 1000;

-- How long the rows of a table are kept: one row each time that this is changed (RETAIN_… variables, applied by
-- migrate). It is written before the table's TTL is changed, so that no row is deleted without a record. What was
-- deleted stays known when the time is made longer again.
CREATE TABLE IF NOT EXISTS retentions (
    table_name  LowCardinality(String),
    days        UInt32                                COMMENT 'rows with an older block_time may be gone; 0: all are kept',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = MergeTree ORDER BY (table_name, recorded_at) SETTINGS non_replicated_deduplication_window = 1000;
