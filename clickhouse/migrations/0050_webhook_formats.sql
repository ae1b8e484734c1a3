-- How a subscriber is told, and from which severity on. Subscriptions from before get the events as they are, all of them.
ALTER TABLE webhook_subscriptions
    ADD COLUMN IF NOT EXISTS min_severity LowCardinality(String) COMMENT 'info, warning or critical: least severity of an event; empty: any' AFTER min_size,
    ADD COLUMN IF NOT EXISTS format       LowCardinality(String) DEFAULT 'plumbline' COMMENT 'plumbline, slack, discord, telegram, alertmanager or cloudevents' AFTER min_severity,
    ADD COLUMN IF NOT EXISTS chat_id      String                 COMMENT 'of the format telegram: where the message goes; else empty' AFTER format,
    ADD COLUMN IF NOT EXISTS sealed_url   String                 COMMENT 'sealed, if whoever knows the URL can post: url then has its origin only; else empty' AFTER url;
