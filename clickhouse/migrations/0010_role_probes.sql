-- One row an answer to hasRole: whether an account holds a role of a genesis token at the end of a block. Those tokens got
-- their first roles without a log, and the chain cannot list who holds one, so accounts are asked for that are known to
-- administer stables. No row says nothing; later changes are in role_events.
CREATE TABLE IF NOT EXISTS role_probes
(
    stable       LowCardinality(String),
    account      String,
    role         LowCardinality(String) COMMENT '32-byte id',
    role_name    LowCardinality(String),
    has_role     Bool,
    block_number UInt64,
    block_time   DateTime('UTC')
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, account, role)
SETTINGS non_replicated_deduplication_window = 1000;
