-- Excursions of a stable from its peg, on two tracks that know nothing of each other: mild and severe. Each is one row,
-- its key (stable, severity, started_at, started_block), which every slot of the detector that sees it replaces while it
-- lasts. Read with FINAL. An excursion with a confirmed_at lasted its minimum and is an event; one without that is still
-- going on at the end of a slot is kept because it may become one, and stays when it does not. Never shorter and inside
-- one slot. So the excursions that were going on at the end of any slot T are those with started_at <= T and no ended_at
-- up to T: the state from which the next slot goes on.
CREATE TABLE IF NOT EXISTS peg_events
(
    stable               LowCardinality(String),
    severity             Enum8('mild' = 1, 'severe' = 2),
    started_at           DateTime('UTC')           COMMENT 'time of the first sample outside',
    started_block        UInt64,
    confirmed_at         Nullable(DateTime('UTC')) COMMENT 'time of the first sample by which it had lasted its minimum; null when it has not',
    ended_at             Nullable(DateTime('UTC')) COMMENT 'time of the first sample back inside; null while it goes on',
    ended_block          Nullable(UInt64),
    max_deviation_micros UInt32                    COMMENT 'largest distance from 1 up to slot_at, 1e-6; 100 are one basis point',
    revision             UInt32                    COMMENT 'rollbacks that ingest had done when the row was written',
    slot_at              DateTime('UTC')           COMMENT 'the slot that wrote it: what the row says is true up to here',
    is_deleted           UInt8                     COMMENT '1: the blocks it was seen in were rolled back',
    version              UInt64 MATERIALIZED bitOr(bitShiftLeft(toUInt64(revision), 32), toUnixTimestamp(slot_at)),
    INDEX slot_at_index slot_at TYPE minmax GRANULARITY 1 /* the few rows that the last slots have written */
)
ENGINE = ReplacingMergeTree(version, is_deleted) ORDER BY (stable, severity, started_at, started_block)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 256;
