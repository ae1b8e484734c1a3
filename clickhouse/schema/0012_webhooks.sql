-- Webhooks: who receives events, what is to be sent to whom, and how each attempt ended.

-- One row a version of a subscription; the newest holds. Two writers of the same version have the same deduplication
-- token, so one of them inserts nothing, and sees by `change` that it was not first. Secrets are sealed with
-- SECRETS_KEY.
CREATE TABLE IF NOT EXISTS webhook_subscriptions (
    id                    String                         COMMENT 'wh_ and 16 hexadecimal digits',
    version               UInt32                         COMMENT 'from 1',
    change                String                         COMMENT 'random, of the request that made this version',
    request_key           String                         COMMENT 'hash of its Idempotency-Key and of what it was sent to; empty where it had none',
    request_body          String                         COMMENT 'hash of what it said, where it had one',
    label                 String                         COMMENT 'in the words of who made it',
    url                   String                         COMMENT 'where deliveries are sent',
    sealed_url            String                         COMMENT 'sealed, if whoever knows the URL can post: url then has its origin only; else empty',
    event_types           Array(LowCardinality(String)),
    stable_filter         Array(String)                  COMMENT 'lower case; empty: all stables',
    severity              LowCardinality(String)         COMMENT 'mild or severe; empty: both',
    min_bps               Float64                        COMMENT 'least max_deviation_bps that an event says; 0: any',
    min_seconds           UInt32                         COMMENT 'least time from the start of the break to the event; 0: any',
    min_size              UInt32                         COMMENT 'least standing_tokens that an event says; 0: any, also unknown',
    min_severity          LowCardinality(String)         COMMENT 'info, warning or critical: least severity of an event; empty: any',
    format                LowCardinality(String)         COMMENT 'how events are written, as in clickhouse/webhooks/formats.ts',
    chat_id               String                         COMMENT 'of a format that needs one: where the message goes; else empty',
    quiet_from            LowCardinality(String)         COMMENT 'HH:MM, start of the quiet hours of each day; empty: none',
    quiet_to              LowCardinality(String)         COMMENT 'HH:MM, their end; before the start: of the next day',
    quiet_zone            LowCardinality(String)         COMMENT 'IANA time zone of both',
    critical_passes       Bool                           COMMENT 'whether critical events are never held',
    digest_minutes        UInt16                         COMMENT 'events are held up to the next multiple; 0: they are not',
    state                 Enum8('enabled' = 1, 'disabled' = 2, 'deleted' = 3),
    reason                LowCardinality(String)         COMMENT 'why it is disabled: admin, gone (it answered 410) or failing; else empty',
    secret                String                         COMMENT 'sealed',
    previous_secret       String                         COMMENT 'sealed; signs as well until previous_secret_until; empty where there is none',
    previous_secret_until Nullable(DateTime64(3, 'UTC')),
    after_sequence        UInt64                         COMMENT 'events of the log up to this one are not sent to it: they were there when it was made or enabled',
    created_at            DateTime64(3, 'UTC'),
    changed_at            DateTime64(3, 'UTC')
) ENGINE = MergeTree ORDER BY (id, version) SETTINGS non_replicated_deduplication_window = 1000;

-- One row a delivery to be sent; rows are never changed. Numbers are taken as in the log of events, and whether a
-- delivery is done is in its attempts. A held event is never sent alone: it is in the first digest to its subscription
-- whose event_sequence is not below its own, because a digest covers all held events between the digest before and its
-- own event_sequence.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
    delivery_id     UInt64                                COMMENT 'from 1; may leave numbers out; the same over all attempts' CODEC(Delta, ZSTD(1)),
    subscription_id LowCardinality(String),
    kind            Enum8('event' = 1, 'test' = 2, 'replay' = 3, 'held' = 4, 'digest' = 5),
    event_id        String                                COMMENT 'of the log; of a test, an id of its own' CODEC(ZSTD(1)),
    event_sequence  UInt64                                COMMENT 'of the log; 0 for a test',
    event_type      LowCardinality(String),
    data            String                                COMMENT 'JSON, as it is sent' CODEC(ZSTD(1)),
    cause           String                                COMMENT 'of a test or replay: what asked for it, so that a repeated request adds nothing; else empty' CODEC(ZSTD(1)),
    incidents       Array(String)                         COMMENT 'what it is about, of a replay with its cause: it is sent after earlier ones to its subscription with any of these' CODEC(ZSTD(1)),
    event_at        DateTime64(3, 'UTC')                  COMMENT 'when the event became known, or the test or replay was asked for',
    published_at    DateTime64(3, 'UTC')                  COMMENT 'recorded_at of the event; of a test, when it was asked for',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3),
    INDEX event_index event_id TYPE bloom_filter GRANULARITY 1,
    INDEX recorded_index recorded_at TYPE minmax GRANULARITY 1,
    INDEX subscription_index subscription_id TYPE set(64) GRANULARITY 1,
    INDEX event_sequence_index event_sequence TYPE minmax GRANULARITY 1 /* grows with delivery_id, except in replays */,
    INDEX request_index splitByChar(':', cause)[1] TYPE bloom_filter GRANULARITY 1 /* a request is looked for by its key */
) ENGINE = MergeTree ORDER BY delivery_id
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024;

-- Up to where the log of events has been made into deliveries, and up to where those are over, so that a start need not
-- look at all that ever were. Both only grow: the greatest of each counts, and is kept beside the rows.
CREATE TABLE IF NOT EXISTS webhook_fan_outs (
    sequence_number UInt64                                COMMENT 'of the newest event whose deliveries are all recorded',
    settled_before  UInt64                                COMMENT 'every delivery with a smaller number is over',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3),
    PROJECTION newest (SELECT max(sequence_number), max(settled_before))
) ENGINE = MergeTree ORDER BY sequence_number
SETTINGS non_replicated_deduplication_window = 1000, lightweight_mutation_projection_mode = 'rebuild';

-- One row an attempt that ended. A delivery whose newest attempt has no next_attempt_at is over; one without an attempt
-- is due at once. A crash between sending and recording leaves no row, and the attempt is made again. Where two
-- processes made the same attempt, there are two rows.
--
-- Each part also keeps, for ten thousand deliveries at a time, how the attempts of each subscription ended and when the
-- last one began. Merges build this summary; a part without one is read as it is. Attempts are recorded up to twenty
-- times a second, and an insert would spend 5 of the engine's 17.5 µs on it.
CREATE TABLE IF NOT EXISTS webhook_attempts (
    delivery_id     UInt64                         CODEC(Delta, ZSTD(1)),
    attempt         UInt8                          COMMENT '1 to 7',
    subscription_id LowCardinality(String),
    outcome         Enum8('success' = 1, 'failure' = 2, 'canceled' = 3, 'refused' = 4) COMMENT 'canceled: its subscription was disabled or deleted when it fell due; nothing was sent. refused: answered with 429, is made again with the same number',
    status          UInt16                         COMMENT 'of the response; 0 where there was none',
    error           LowCardinality(String)         COMMENT 'why there was no response, or none that counts; else empty',
    response        String                         COMMENT 'the first bytes of the body' CODEC(ZSTD(1)),
    due_at          DateTime64(3, 'UTC'),
    started_at      DateTime64(3, 'UTC'),
    duration_ms     UInt32,
    next_attempt_at Nullable(DateTime64(3, 'UTC')) COMMENT 'null where this was the last attempt',
    instance        LowCardinality(String)         COMMENT 'random id of the process that sent it',
    INDEX started_index started_at TYPE minmax GRANULARITY 1,
    INDEX subscription_index subscription_id TYPE set(64) GRANULARITY 1,
    PROJECTION ends (
        SELECT subscription_id, outcome, intDiv(status, 100), coalesce(toUnixTimestamp(next_attempt_at), 0) = 0, intDiv(delivery_id, 10000), count(), max(started_at)
        GROUP BY subscription_id, outcome, intDiv(status, 100), coalesce(toUnixTimestamp(next_attempt_at), 0) = 0, intDiv(delivery_id, 10000)
    )
) ENGINE = MergeTree ORDER BY (delivery_id, attempt)
SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 1024, lightweight_mutation_projection_mode = 'rebuild',
         materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;
