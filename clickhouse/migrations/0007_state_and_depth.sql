-- What a stable's holders have opted in to rewards, and what a token that was opted in all along has earned. A state is
-- read as before and, for the stables that are sampled, at the first block of every aligned five minutes: the opted-in
-- supply moves with every transfer of those who opted in, and no event says so. Rows from before are not filled in.
ALTER TABLE state_reads
    ADD COLUMN IF NOT EXISTS opted_in_raw         Nullable(UInt128) COMMENT 'base units; null when not measured' AFTER policy_admin,
    ADD COLUMN IF NOT EXISTS reward_per_token_raw Nullable(UInt256) COMMENT 'base units for a base unit, times 1e18; only ever grows; null when not measured' AFTER opted_in_raw;

-- One row a stable, block and size: what that many tokens sell for and what they cost at the end of the block, in the
-- reference stable. Taken at the first block of every aligned minute that is less than a minute after its parent, and
-- at the first block of every aligned five minutes whatever its parent. A quote that failed has its status, no amount.
CREATE TABLE IF NOT EXISTS depth_samples
(
    stable       LowCardinality(String)  CODEC(ZSTD(1)),
    size_tokens  UInt32                  COMMENT 'whole tokens of the stable' CODEC(T64, ZSTD(1)),
    block_number UInt64                  CODEC(DoubleDelta, ZSTD(1)),
    block_time   DateTime('UTC')         CODEC(DoubleDelta, ZSTD(1)),
    sell_status  Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7) CODEC(ZSTD(1)),
    sell_raw     Nullable(UInt64)        COMMENT 'base units of the reference stable got for size_tokens; null when there is no quote' CODEC(Delta, ZSTD(1)),
    buy_status   Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7) CODEC(ZSTD(1)),
    buy_raw      Nullable(UInt64)        COMMENT 'base units of the reference stable paid for size_tokens; null when there is no quote' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, size_tokens, block_time, block_number)
SETTINGS non_replicated_deduplication_window = 1000;
