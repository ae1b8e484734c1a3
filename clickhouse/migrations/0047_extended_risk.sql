-- The extended risk score, beside risk_snapshots and with a history of its own: one row a stable and slot, kept and revised as
-- those are. It begins with the first slot that is run after this migration; slots that were done before have none.
CREATE TABLE IF NOT EXISTS extended_snapshots
(
    stable           LowCardinality(String)           CODEC(ZSTD(1)),
    slot_at          DateTime('UTC')                  CODEC(DoubleDelta, ZSTD(1)),
    revision         UInt32                           COMMENT 'rollbacks and changes of history by then' CODEC(T64, ZSTD(1)),
    published_at     DateTime64(3, 'UTC')             COMMENT 'clock of the jobs when the row was written' CODEC(Delta, ZSTD(1)),
    figures_hash     UInt64                           COMMENT 'of all other columns except revision' CODEC(ZSTD(1)),
    version          LowCardinality(String)           COMMENT 'which formula; an older one''s rows stay as they are',
    score            Decimal(6, 3)                    COMMENT '0 to 100, higher is riskier' CODEC(ZSTD(1)),
    peg              Nullable(Decimal(5, 2))          COMMENT '0 to 100; null for a component that is left out, as in the next five' CODEC(ZSTD(1)),
    breaks           Nullable(Decimal(5, 2))          CODEC(ZSTD(1)),
    liquidity        Nullable(Decimal(5, 2))          CODEC(ZSTD(1)),
    concentration    Nullable(Decimal(5, 2))          COMMENT 'left out if no transfers are read' CODEC(ZSTD(1)),
    issuance         Nullable(Decimal(5, 2))          CODEC(ZSTD(1)),
    policy           Nullable(Decimal(5, 2))          CODEC(ZSTD(1)),
    rms_bps_24h      Nullable(Decimal(18, 4))         COMMENT 'root mean square distance from 1 in (slot_at - 24 h, slot_at]; null is not known, here and below' CODEC(ZSTD(1)),
    has_open_mild    Nullable(Bool)                   CODEC(ZSTD(1)),
    has_open_severe  Nullable(Bool)                   CODEC(ZSTD(1)),
    mild_events_7d   Nullable(UInt32)                 CODEC(T64, ZSTD(1)),
    severe_events_7d Nullable(UInt32)                 CODEC(T64, ZSTD(1)),
    unquoted_seconds Nullable(UInt32)                 COMMENT 'since when it could not be sold; 0 while it can' CODEC(T64, ZSTD(1)),
    exit_share       Nullable(Decimal(9, 8))          COMMENT 'of the supply, that sells within 50 bps; at most 1' CODEC(ZSTD(1)),
    size_tokens      Array(UInt32)                    COMMENT 'the sampled sizes that count' CODEC(ZSTD(1)),
    exit_cost_bps    Array(Nullable(Decimal(9, 4)))   COMMENT 'of selling each; 10000 where nobody buys it' CODEC(ZSTD(1)),
    hhi              Nullable(Decimal(9, 4))          COMMENT 'Herfindahl-Hirschman index of the holders; 10000 if there are none' CODEC(ZSTD(1)),
    headroom_share   Nullable(Decimal(7, 6))          COMMENT 'of the cap, that can still be minted; 1 without a cap' CODEC(ZSTD(1)),
    paused           Nullable(Bool)                   CODEC(ZSTD(1)),
    policy_type      LowCardinality(Nullable(String)) COMMENT 'reject_all, allow_all, whitelist, blacklist or compound' CODEC(ZSTD(1)),
    policy_events_7d Nullable(UInt32)                 CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(revision) PARTITION BY toYYYYMM(slot_at) ORDER BY (stable, slot_at, published_at)
SETTINGS non_replicated_deduplication_window = 1000;
