-- Who is told of events, one row a version; the newest holds. Two writers of the same version have the same deduplication
-- token, so one of them inserts nothing, and sees by `change` that it was not first. Secrets are sealed with SECRETS_KEY.
CREATE TABLE IF NOT EXISTS webhook_subscriptions
(
    id                    String                        COMMENT 'wh_ and 16 hexadecimal digits',
    version               UInt32                        COMMENT 'from 1',
    change                String                        COMMENT 'random, of the request that made this version',
    request_key           String                        COMMENT 'hash of its Idempotency-Key and of what it was sent to; empty where it had none',
    request_body          String                        COMMENT 'hash of what it said, where it had one',
    label                 String                        COMMENT 'in the words of who made it',
    url                   String                        COMMENT 'where deliveries are sent',
    event_types           Array(LowCardinality(String)),
    stable_filter         Array(String)                 COMMENT 'lower case; empty: all stables',
    state                 Enum8('enabled' = 1, 'disabled' = 2, 'deleted' = 3),
    reason                LowCardinality(String)        COMMENT 'why it is disabled: admin, gone (it answered 410) or failing; else empty',
    secret                String                        COMMENT 'sealed',
    previous_secret       String                        COMMENT 'sealed; signs as well until previous_secret_until; empty where there is none',
    previous_secret_until Nullable(DateTime64(3, 'UTC')),
    after_sequence        UInt64                        COMMENT 'events of the log up to this one are not sent to it: they were there when it was made or enabled',
    created_at            DateTime64(3, 'UTC'),
    changed_at            DateTime64(3, 'UTC')
)
ENGINE = MergeTree ORDER BY (id, version)
SETTINGS non_replicated_deduplication_window = 1000;

-- What is to be sent, one row a delivery; rows are never changed. The number is taken as in the log of events: the token of
-- an insert is its first number, so that of two writers one inserts nothing and looks again. Whether a delivery is done
-- is in its attempts.
CREATE TABLE IF NOT EXISTS webhook_deliveries
(
    delivery_id      UInt64                               COMMENT 'from 1; may leave numbers out; the same over all attempts' CODEC(Delta, ZSTD(1)),
    subscription_id  LowCardinality(String),
    kind             Enum8('event' = 1, 'test' = 2, 'replay' = 3),
    event_id         String                               COMMENT 'of the log; of a test, an id of its own' CODEC(ZSTD(1)),
    event_sequence   UInt64                               COMMENT 'of the log; 0 for a test',
    event_type       LowCardinality(String),
    data             String                               COMMENT 'JSON, as it is sent' CODEC(ZSTD(1)),
    cause            String                               COMMENT 'of a test or replay: what asked for it, so that a repeated request adds nothing; else empty' CODEC(ZSTD(1)),
    event_at         DateTime64(3, 'UTC')                 COMMENT 'when the event became known, or the test or replay was asked for',
    recorded_at      DateTime64(3, 'UTC') DEFAULT now64(3),
    INDEX event_index event_id TYPE bloom_filter GRANULARITY 1,
    INDEX recorded_index recorded_at TYPE minmax GRANULARITY 1,
    INDEX subscription_index subscription_id TYPE set(64) GRANULARITY 1
)
ENGINE = MergeTree ORDER BY delivery_id
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

-- Up to where the log of events has been made into deliveries, and up to where those are over, so that who starts needs not
-- look at all that ever were. Both only grow: the greatest of each counts.
CREATE TABLE IF NOT EXISTS webhook_fan_outs
(
    sequence_number UInt64 COMMENT 'of the newest event whose deliveries are all recorded',
    settled_before  UInt64 COMMENT 'every delivery with a smaller number is over',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY sequence_number
SETTINGS non_replicated_deduplication_window = 1000;

-- How attempts ended. A delivery whose newest attempt has no next_attempt_at is over; one without an attempt is due at once.
-- A crash between sending and recording leaves no row, and the attempt is made again. Where two processes made the same
-- attempt, there are two rows.
CREATE TABLE IF NOT EXISTS webhook_attempts
(
    delivery_id     UInt64                              CODEC(Delta, ZSTD(1)),
    attempt         UInt8                               COMMENT '1 to 7',
    subscription_id LowCardinality(String),
    outcome         Enum8('success' = 1, 'failure' = 2, 'canceled' = 3) COMMENT 'canceled: its subscription was disabled or deleted when it fell due; nothing was sent',
    status          UInt16                              COMMENT 'of the response; 0 where there was none',
    error           LowCardinality(String)              COMMENT 'why there was no response, or none that counts; else empty',
    response        String                              COMMENT 'the first bytes of the body' CODEC(ZSTD(1)),
    due_at          DateTime64(3, 'UTC'),
    started_at      DateTime64(3, 'UTC'),
    duration_ms     UInt32,
    next_attempt_at Nullable(DateTime64(3, 'UTC'))      COMMENT 'null where this was the last attempt',
    instance        LowCardinality(String)              COMMENT 'random id of the process that sent it',
    INDEX started_index started_at TYPE minmax GRANULARITY 1,
    INDEX subscription_index subscription_id TYPE set(64) GRANULARITY 1
)
ENGINE = MergeTree ORDER BY (delivery_id, attempt)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;
