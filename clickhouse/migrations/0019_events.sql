-- What subscribers are told: one row an event, in the order in which events became known. That is not the order of their
-- times, as a job may catch up while another does not. Rows are never changed, and an id is there once: an insert takes
-- the numbers that follow the newest one, and its deduplication token is the first of them, so that of two writers who
-- go on from the same row one inserts nothing, looks again, and finds what the other has announced. A reader who has
-- seen a number has therefore seen all that will ever be before it. A kill may leave numbers out.
CREATE TABLE IF NOT EXISTS events
(
    sequence_number UInt64                                COMMENT 'the order of the log, from 1; may leave numbers out' CODEC(Delta, ZSTD(1)),
    id              String                                COMMENT 'a hash of what is announced: the same whenever it is found again' CODEC(ZSTD(1)),
    type            LowCardinality(String)                COMMENT 'peg_break.started, peg_break.ended, flow_anomaly.detected or system.health_drift',
    subject         String                                COMMENT 'what it is about: a peg break, an edge and window, a component' CODEC(ZSTD(1)),
    stables         Array(LowCardinality(String))         COMMENT 'the stables concerned; none in events of the service itself',
    data            String                                COMMENT 'JSON, as it is published' CODEC(ZSTD(1)),
    occurred_at     DateTime('UTC')                       COMMENT 'when it came to be, by the clock of the chain; of the service itself, when it was seen',
    slot_at         DateTime('UTC')                       COMMENT 'the slot that found it; of the service itself, when it was seen',
    revision        UInt32                                COMMENT 'rollbacks that ingest had done when it was found',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it became known',
    INDEX id_index id TYPE bloom_filter GRANULARITY 1,
    INDEX subject_index subject TYPE bloom_filter GRANULARITY 1
)
ENGINE = MergeTree ORDER BY sequence_number
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;
