-- How many tokens a break stood for when it was confirmed (clickhouse/peg/standing.ts). It is decided once, and the rows of later
-- slots keep it. Rows from before are not filled in.
ALTER TABLE peg_events
    ADD COLUMN IF NOT EXISTS standing_tokens Nullable(UInt32)
        COMMENT 'the largest sampled size up to which every size sold beyond the limit at confirmed_at, 0: none; null when not measured, not confirmed yet, or found before this column' AFTER max_deviation_micros;
