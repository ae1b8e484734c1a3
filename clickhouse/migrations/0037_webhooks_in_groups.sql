-- Nothing of what was sent to a subscriber is ever let go, and what is asked about it most often needs little of it: when each
-- subscription last had a success and a failure, how the attempts of each ended, and among which deliveries some ended in
-- a way. So every part of the table keeps that beside its rows, for ten thousand deliveries at a time. A part that has
-- no summary yet is read as it is.
ALTER TABLE webhook_attempts MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE webhook_attempts ADD PROJECTION IF NOT EXISTS ends
(
    SELECT subscription_id, outcome, intDiv(status, 100), coalesce(toUnixTimestamp(next_attempt_at), 0) = 0, intDiv(delivery_id, 10000), count(), max(started_at)
    GROUP BY subscription_id, outcome, intDiv(status, 100), coalesce(toUnixTimestamp(next_attempt_at), 0) = 0, intDiv(delivery_id, 10000)
);

ALTER TABLE webhook_attempts MATERIALIZE PROJECTION ends;

-- The greatest of each column is all that is read.
ALTER TABLE webhook_fan_outs MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE webhook_fan_outs ADD PROJECTION IF NOT EXISTS newest (SELECT max(sequence_number), max(settled_before));

ALTER TABLE webhook_fan_outs MATERIALIZE PROJECTION newest;

-- Numbers of events grow with those of their deliveries, except in replays. A request is looked for by its key.
ALTER TABLE webhook_deliveries
    ADD INDEX IF NOT EXISTS event_sequence_index event_sequence TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS request_index splitByChar(':', cause)[1] TYPE bloom_filter GRANULARITY 1;

ALTER TABLE webhook_deliveries MATERIALIZE INDEX event_sequence_index;

ALTER TABLE webhook_deliveries MATERIALIZE INDEX request_index;
