-- When the event of a delivery was published, which its body says. The body of a delivery never changes, so it is null for
-- deliveries that were there before, whose body has no such field.
ALTER TABLE webhook_deliveries
    ADD COLUMN IF NOT EXISTS published_at Nullable(DateTime64(3, 'UTC')) COMMENT 'recorded_at of the event; of a test, when it was asked for' AFTER event_at;
