-- How long the rows of a table are kept: one row each time that this was changed (RETAIN_… variables, applied by migrate). A
-- row is written before the table's TTL is changed, so that nothing is ever let go without a word. What was let go stays
-- known when the time is made longer again.
CREATE TABLE IF NOT EXISTS retentions
(
    table_name  LowCardinality(String),
    days        UInt32                             COMMENT 'rows with an older block_time may be gone; 0: all are kept',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY (table_name, recorded_at)
SETTINGS non_replicated_deduplication_window = 1000;

-- A part goes as a whole when its newest row is old enough: a month of rows is never rewritten to let some of them go.
ALTER TABLE fees_paid MODIFY SETTING ttl_only_drop_parts = 1;
