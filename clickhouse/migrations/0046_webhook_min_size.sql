-- One more limit of the peg breaks that a subscriber is told of. Subscriptions from before get all.
ALTER TABLE webhook_subscriptions
    ADD COLUMN IF NOT EXISTS min_size UInt32 COMMENT 'least standing_tokens that an event says; 0: any, also unknown' AFTER min_seconds;
