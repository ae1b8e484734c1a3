-- Breaks on the agreed tracks (clickhouse/peg/agreed/rules.ts), as peg_events has those of the others: one row a break, its key
-- (stable, severity, started_at, started_block), which every slot of the detector that sees it replaces while it lasts. Read with
-- FINAL. Only breaks that have lasted their minimum are here; what may become one is in peg_track_states.
CREATE TABLE IF NOT EXISTS agreed_breaks
(
    stable               LowCardinality(String),
    severity             Enum8('mild' = 1, 'severe' = 2),
    started_at           DateTime('UTC')           COMMENT 'time of the first sample whose smoothed price is outside',
    started_block        UInt64,
    confirmed_at         DateTime('UTC')           COMMENT 'time of the first sample by which it had lasted its minimum',
    ended_at             Nullable(DateTime('UTC')) COMMENT 'time of the first sample whose smoothed price is back inside; null while it goes on',
    ended_block          Nullable(UInt64),
    direction            Enum8('below' = 1, 'above' = 2) COMMENT 'on which side of the peg it began',
    max_deviation_micros UInt32                    COMMENT 'largest distance of the agreed price from 1 up to slot_at, 1e-6; 100 are one basis point',
    revision             UInt32                    COMMENT 'rollbacks and backfills that were known when the row was written',
    slot_at              DateTime('UTC')           COMMENT 'the slot that wrote it: what the row says is true up to here',
    is_deleted           UInt8                     COMMENT '1: it is not found in the blocks that replaced those it was seen in',
    version              UInt64 MATERIALIZED bitOr(bitShiftLeft(toUInt64(revision), 32), toUnixTimestamp(slot_at)),
    INDEX slot_at_index slot_at TYPE minmax GRANULARITY 1 /* the few rows that the last slots have written */
)
ENGINE = ReplacingMergeTree(version, is_deleted) ORDER BY (stable, severity, started_at, started_block)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 256;

-- What the detector knows at the end of a slot: the next slot continues from there. One row a slot; of several, that of the
-- highest revision counts.
CREATE TABLE IF NOT EXISTS peg_track_states
(
    slot_at  DateTime('UTC') COMMENT 'the slot: it is made of the samples up to here'                            CODEC(DoubleDelta, ZSTD(1)),
    revision UInt32          COMMENT 'rollbacks and backfills that were known when the row was written'          CODEC(T64, ZSTD(1)),
    states   String          COMMENT 'JSON: for each stable and severity the averages and the breaks in progress' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(revision) ORDER BY slot_at
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 64;
