-- How the node answers ingest: its calls of the last minute by what became of them, noted every few seconds whether or not
-- the node answers. The newest row counts, older ones go with the next merge.
CREATE TABLE IF NOT EXISTS node_calls
(
    program       LowCardinality(String)                 COMMENT 'who asks: ingest',
    ok            UInt32                                 COMMENT 'calls of the last minute that were answered',
    limited       UInt32                                 COMMENT 'refused because the node was asked too often',
    too_large     UInt32                                 COMMENT 'refused because of too many blocks or results',
    no_state      UInt32                                 COMMENT 'refused because the node has dropped the state of the block',
    late          UInt32                                 COMMENT 'not answered in time',
    failed        UInt32                                 COMMENT 'failed in another way',
    chain_changes UInt32                                 COMMENT 'times in the last hour that the chain no longer matched what was read',
    noted_at      DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(noted_at) ORDER BY program
SETTINGS non_replicated_deduplication_window = 1000;
