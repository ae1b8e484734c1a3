-- One row an event, as subscribers receive it, in the order in which events became known. That is not the order of
-- their times, as a job may catch up while another does not. Rows are never changed, and an id is there once: an insert
-- takes the numbers that follow the newest one, and its deduplication token is the first of them. So of two writers who
-- continue from the same row one inserts nothing, looks again, and finds what the other has announced. A reader who has
-- seen a number has therefore seen all that will ever be before it. A kill may leave numbers out.
--
-- An event of the type event.retracted takes back one that was announced: its subject is the id of that event, and its
-- stables are that event's. It goes to everyone who may have received that event, so it has that event's type beside
-- its own.
--
-- What was taken back, and the newest state of each component, are few among all events. So each part also keeps, in
-- the order of types, when each subject was first and last in an event of a type. A slot that is run again finds the
-- events that it announced before by their time.
CREATE TABLE IF NOT EXISTS events (
    sequence_number UInt64                                COMMENT 'the order of the log, from 1; may leave numbers out' CODEC(Delta, ZSTD(1)),
    id              String                                COMMENT 'a hash of what is announced: the same whenever it is found again' CODEC(ZSTD(1)),
    type            LowCardinality(String)                COMMENT 'clickhouse/events/types.ts lists them',
    subject         String                                COMMENT 'what it is about: a peg break, an edge and window, a component' CODEC(ZSTD(1)),
    stables         Array(LowCardinality(String))         COMMENT 'the stables concerned; none in events of the service itself',
    data            String                                COMMENT 'JSON, as it is published' CODEC(ZSTD(1)),
    occurred_at     DateTime('UTC')                       COMMENT 'when it came to be, by the clock of the chain; of the service itself, when it was seen',
    slot_at         DateTime('UTC')                       COMMENT 'the slot that found it; of the service itself, when it was seen',
    revision        UInt32                                COMMENT 'rollbacks and changes of history when it was found',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it became known',
    retracted_type  LowCardinality(String)                COMMENT 'of event.retracted: the type of the event that it takes back',
    INDEX id_index id TYPE bloom_filter GRANULARITY 1,
    INDEX subject_index subject TYPE bloom_filter GRANULARITY 1,
    INDEX occurred_at_index occurred_at TYPE minmax GRANULARITY 1,
    INDEX recorded_index recorded_at TYPE minmax GRANULARITY 1,
    PROJECTION subjects (
        SELECT type, subject, max(sequence_number), min(recorded_at) GROUP BY type, subject
    )
) ENGINE = MergeTree ORDER BY sequence_number
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024, lightweight_mutation_projection_mode = 'rebuild';
