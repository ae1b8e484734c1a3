-- When a subscriber wants to be left alone, and how often to be told at most. Subscriptions from before get events at once.
ALTER TABLE webhook_subscriptions
    ADD COLUMN IF NOT EXISTS quiet_from      LowCardinality(String) COMMENT 'HH:MM, start of the quiet hours of each day; empty: none' AFTER chat_id,
    ADD COLUMN IF NOT EXISTS quiet_to        LowCardinality(String) COMMENT 'HH:MM, their end; before the start: of the next day' AFTER quiet_from,
    ADD COLUMN IF NOT EXISTS quiet_zone      LowCardinality(String) COMMENT 'IANA time zone of both' AFTER quiet_to,
    ADD COLUMN IF NOT EXISTS critical_passes Bool                   COMMENT 'whether critical events are never held' AFTER quiet_zone,
    ADD COLUMN IF NOT EXISTS digest_minutes  UInt16                 COMMENT 'events are held up to the next multiple; 0: they are not' AFTER critical_passes;

-- A held event is never sent alone. It is in the first digest to its subscription whose event_sequence is not below its own:
-- a digest covers all held events between the digest before and its own event_sequence.
ALTER TABLE webhook_deliveries
    MODIFY COLUMN kind Enum8('event' = 1, 'test' = 2, 'replay' = 3, 'held' = 4, 'digest' = 5);
