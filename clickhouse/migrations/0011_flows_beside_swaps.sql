-- Flows beside swaps. Kind transfer: two accounts trade one stable for another within a transaction by transfers alone;
-- account is who gave first, log_index that of the last transfer back. Kind bridge: a stable leaves for another chain
-- (to_token is empty) or comes from it (from_token is empty), so it joins no two stables; log_index is that of the
-- bridge's own event. Blocks that were taken in before have no rows of these kinds until they are read again.
ALTER TABLE flows
    ADD COLUMN IF NOT EXISTS remote_chain LowCardinality(Nullable(String)) COMMENT 'eid:<LayerZero endpoint id> or zone:<id>; kind bridge only' AFTER path;
