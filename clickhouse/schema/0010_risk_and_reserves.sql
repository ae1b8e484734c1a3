-- What the risk and reserves jobs publish: one row a stable, slot and publication, made of the facts with block_time <=
-- slot_at and never changed afterwards. A row has two times: slot_at, which it is about, and published_at, from which
-- on it was shown. A slot that is run again adds a row if its figures have changed; what was shown at some instant are
-- the rows published by then. Of these, that of the highest revision counts, and after a rollback of blocks before its
-- slot a row of a lower revision counts no longer.

-- The score with all of its inputs, so that it can be explained and computed again.
CREATE TABLE IF NOT EXISTS risk_snapshots (
    stable                LowCardinality(String)           CODEC(ZSTD(1)),
    slot_at               DateTime('UTC')                  CODEC(DoubleDelta, ZSTD(1)),
    revision              UInt32                           COMMENT 'rollbacks and changes of history by then' CODEC(T64, ZSTD(1)),
    methodology           LowCardinality(String)           COMMENT 'which formula; an older one''s rows stay as they are',
    composite             Decimal(6, 3)                    COMMENT '0 to 100, higher is riskier: 0.4 peg + 0.3 peg break + 0.2 supply + 0.1 policy' CODEC(ZSTD(1)),
    peg_risk              Decimal(5, 2)                    COMMENT '0 to 100' CODEC(ZSTD(1)),
    peg_break_risk        Decimal(5, 2)                    COMMENT '0 to 100' CODEC(ZSTD(1)),
    supply_risk           Decimal(5, 2)                    COMMENT '0 to 100' CODEC(ZSTD(1)),
    policy_risk           Decimal(5, 2)                    COMMENT '0 to 100' CODEC(ZSTD(1)),
    quoted_count_24h      UInt64                           COMMENT 'samples with a price in (slot_at - 24 h, slot_at]' CODEC(T64, ZSTD(1)),
    unquoted_count_24h    UInt64                           COMMENT 'samples without one' CODEC(T64, ZSTD(1)),
    stddev_bps_24h        Nullable(Decimal(18, 4))         COMMENT 'population, of the price; null without a price' CODEC(ZSTD(1)),
    max_deviation_bps_24h Nullable(Decimal(18, 2))         COMMENT 'largest distance from 1; null without a price' CODEC(ZSTD(1)),
    has_open_mild         Bool                             COMMENT 'a mild peg break is under way at slot_at' CODEC(ZSTD(1)),
    has_open_severe       Bool                             COMMENT 'a severe peg break is under way at slot_at' CODEC(ZSTD(1)),
    mild_events_7d        UInt32                           COMMENT 'mild peg breaks under way at any time in (slot_at - 7 d, slot_at]' CODEC(T64, ZSTD(1)),
    severe_events_7d      UInt32                           COMMENT 'severe ones' CODEC(T64, ZSTD(1)),
    supply_raw            Nullable(UInt256)                COMMENT 'base units; null when the state was never read, and so are the next five' CODEC(ZSTD(1)),
    cap_raw               Nullable(UInt256)                COMMENT 'base units; 2^128-1 means no cap' CODEC(ZSTD(1)),
    paused                Nullable(Bool)                   CODEC(ZSTD(1)),
    policy_id             Nullable(UInt64)                 CODEC(ZSTD(1)),
    policy_type           LowCardinality(Nullable(String)) COMMENT 'reject_all, allow_all, whitelist, blacklist, compound or unknown' CODEC(ZSTD(1)),
    state_block_number    Nullable(UInt64)                 COMMENT 'block at whose end the state was read' CODEC(ZSTD(1)),
    policy_events_7d      UInt32                           COMMENT 'changes of the stable''s policy, and events of the policy it has at slot_at, in (slot_at - 7 d, slot_at]' CODEC(T64, ZSTD(1)),
    published_at          DateTime64(3, 'UTC')             COMMENT 'clock of the jobs when the row was written' CODEC(Delta, ZSTD(1)),
    figures_hash          UInt64                           COMMENT 'of all other columns except revision' CODEC(ZSTD(1)),
    unquoted_share_24h    Nullable(Decimal(7, 6))          COMMENT 'share of (slot_at - 24 h, slot_at] without a price, by samples or by minutes; null when not measured' CODEC(ZSTD(1)),
    unquoted_since        Nullable(DateTime('UTC'))        COMMENT 'time of the first sample since which there is no price; null while there is one' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(revision) PARTITION BY toYYYYMM(slot_at)
PRIMARY KEY (stable, slot_at) ORDER BY (stable, slot_at, published_at)
SETTINGS non_replicated_deduplication_window = 1000;

-- The extended risk score with all of its inputs.
CREATE TABLE IF NOT EXISTS extended_snapshots (
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
    policy_type      LowCardinality(Nullable(String)) COMMENT 'reject_all, allow_all, whitelist, blacklist, compound or unknown' CODEC(ZSTD(1)),
    policy_events_7d Nullable(UInt32)                 CODEC(T64, ZSTD(1))
) ENGINE = ReplacingMergeTree(revision) PARTITION BY toYYYYMM(slot_at) ORDER BY (stable, slot_at, published_at)
SETTINGS non_replicated_deduplication_window = 1000;

-- What stands behind a stable on this chain: its supply at its price, and what the registry of issuers said of it then.
CREATE TABLE IF NOT EXISTS reserve_snapshots (
    stable             LowCardinality(String)           CODEC(ZSTD(1)),
    slot_at            DateTime('UTC')                  CODEC(DoubleDelta, ZSTD(1)),
    revision           UInt32                           COMMENT 'rollbacks and changes of history by then' CODEC(T64, ZSTD(1)),
    reserve_type       LowCardinality(String)           COMMENT 'protocol_native, bridged_fiat, fiat_backed, crypto_mixed, crypto_backed, yield_wrapper or unknown',
    supply_raw         Nullable(UInt256)                COMMENT 'base units; null when the state was never read' CODEC(ZSTD(1)),
    state_block_number Nullable(UInt64)                 COMMENT 'block at whose end the supply was read' CODEC(ZSTD(1)),
    price_micros       Nullable(UInt32)                 COMMENT '1e-6 reference units got for one token; null when it has no price' CODEC(ZSTD(1)),
    price_block_number Nullable(UInt64)                 COMMENT 'block at whose end the price was sampled' CODEC(ZSTD(1)),
    sample_status      LowCardinality(Nullable(String)) COMMENT 'of the newest sample, which says why there is no price, or only an older one; null without a sample',
    label              LowCardinality(Nullable(String)) COMMENT 'null where the issuer is not in the registry, and so are the next four',
    issuer             LowCardinality(Nullable(String)),
    backing_model      LowCardinality(Nullable(String)),
    attestation_source LowCardinality(Nullable(String)) COMMENT 'URL of the issuer''s transparency page',
    attested_at        Nullable(DateTime('UTC'))        COMMENT 'when the entry had last been compared with its sources; null where it had not',
    published_at       DateTime64(3, 'UTC')             COMMENT 'clock of the jobs when the row was written' CODEC(Delta, ZSTD(1)),
    figures_hash       UInt64                           COMMENT 'of all other columns except revision' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(revision) PARTITION BY toYYYYMM(slot_at)
PRIMARY KEY (stable, slot_at) ORDER BY (stable, slot_at, published_at)
SETTINGS non_replicated_deduplication_window = 1000;
