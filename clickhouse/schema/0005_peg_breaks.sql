-- Breaks of the peg. Mild and severe ones are found independently of each other, and so are those of the two tracks: the
-- published ones are of the price of one token, the agreed ones of a smoothed price on which larger sizes agree
-- (clickhouse/peg/rules.ts).

-- One row an excursion from the peg, by its key (track, stable, severity, started_at, started_block): every slot of the
-- track's detector that sees it replaces the row while it lasts. Read with FINAL. An excursion with a confirmed_at lasted
-- its minimum and is a break. On the agreed track, only breaks are here; what may become one is in peg_track_states. On the
-- published track, an excursion without a confirmed_at that is still in progress at the end of a slot is kept because it may
-- become a break, and stays if it does not; a shorter one inside one slot is never written. So the published excursions in
-- progress at the end of any slot T are those with started_at <= T and without an ended_at up to T: the state from which the
-- next slot continues.
CREATE TABLE IF NOT EXISTS peg_breaks (
    track                Enum8('published' = 1, 'agreed' = 2),
    stable               LowCardinality(String),
    severity             Enum8('mild' = 1, 'severe' = 2),
    started_at           DateTime('UTC')                 COMMENT 'time of the first sample outside; on the agreed track, of the first whose smoothed price is',
    started_block        UInt64,
    direction            Enum8('below' = 1, 'above' = 2) COMMENT 'side of the peg of the first sample outside',
    confirmed_at         Nullable(DateTime('UTC'))       COMMENT 'time of the first sample by which it had lasted its minimum; null when it has not',
    ended_at             Nullable(DateTime('UTC'))       COMMENT 'time of the first sample back inside, by the same price; null while it goes on',
    ended_block          Nullable(UInt64),
    max_deviation_micros UInt32                          COMMENT 'largest distance of the price, not smoothed, from 1 up to slot_at, 1e-6; 100 are one basis point',
    standing_tokens      Nullable(UInt32)                COMMENT 'the largest sampled size up to which every size sold beyond the limit at confirmed_at, 0: none; null when not measured, not confirmed yet, or agreed',
    revision             UInt32                          COMMENT 'rollbacks and changes of history when the row was written',
    slot_at              DateTime('UTC')                 COMMENT 'the slot that wrote it: what the row says is true up to here',
    is_deleted           UInt8                           COMMENT '1: it is not found in the blocks that replaced those it was seen in',
    version              UInt64 MATERIALIZED bitOr(bitShiftLeft(toUInt64(revision), 32), toUnixTimestamp(slot_at)),
    INDEX slot_at_index slot_at TYPE minmax GRANULARITY 1 /* the few rows that the last slots have written */
) ENGINE = ReplacingMergeTree(version, is_deleted) ORDER BY (track, stable, severity, started_at, started_block)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 256;

-- One row a slot: what the detector of the agreed track knows at its end, from which the next slot continues. Of
-- several, that of the highest revision counts.
CREATE TABLE IF NOT EXISTS peg_track_states (
    slot_at  DateTime('UTC') COMMENT 'the slot: it is made of the samples up to here' CODEC(DoubleDelta, ZSTD(1)),
    revision UInt32          COMMENT 'rollbacks and changes of history when the row was written' CODEC(T64, ZSTD(1)),
    states   String          COMMENT 'JSON: for each stable and severity the averages and the breaks in progress' CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(revision) ORDER BY slot_at
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 64;
