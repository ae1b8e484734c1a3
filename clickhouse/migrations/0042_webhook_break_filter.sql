-- Which peg breaks a subscriber is told of; other events do not depend on it. Subscriptions from before get all.
ALTER TABLE webhook_subscriptions
    ADD COLUMN IF NOT EXISTS severity    LowCardinality(String) COMMENT 'mild or severe; empty: both' AFTER stable_filter,
    ADD COLUMN IF NOT EXISTS min_bps     Float64                COMMENT 'least max_deviation_bps that an event says; 0: any' AFTER severity,
    ADD COLUMN IF NOT EXISTS min_seconds UInt32                 COMMENT 'least time from the start of the break to the event; 0: any' AFTER min_bps;
