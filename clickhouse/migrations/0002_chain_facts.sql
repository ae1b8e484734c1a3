-- Facts that ingest reads off the chain. One row a fact, never changed afterwards. Integers are the chain's own; token
-- amounts are base units (6 decimals); addresses and hashes are lower-case hex. Every table keeps a deduplication
-- window, because a batch is repeated with the same tokens after a crash.

-- One row a block. Written last in a batch: a block that is here has all of its facts in the other tables.
CREATE TABLE IF NOT EXISTS blocks
(
    block_number UInt64                CODEC(DoubleDelta, ZSTD(1)),
    block_time   DateTime('UTC')       CODEC(DoubleDelta, ZSTD(1)),
    block_hash   String                CODEC(ZSTD(1)),
    parent_hash  String                CODEC(ZSTD(1)),
    tx_count     UInt32                CODEC(T64, ZSTD(1)),
    log_count    UInt32                CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY block_number
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stablecoin: the factory's TokenCreated, or a genesis token (block 0, no transaction).
CREATE TABLE IF NOT EXISTS stablecoins
(
    stable       String,
    symbol       String,
    name         String,
    currency     String                            COMMENT 'the token''s own currency(), USD for a dollar stable',
    quote_token  String                            COMMENT 'at creation; later changes are in quote_token_updates',
    admin        String,
    tier         Enum8('unlisted' = 0, 'listed' = 1) COMMENT 'listed: on the chain''s public token list',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree ORDER BY stable
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a completed change of a stable's quote token.
CREATE TABLE IF NOT EXISTS quote_token_updates
(
    stable       String,
    quote_token  String,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree ORDER BY (stable, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an order placed on the DEX. A fill names only the order, so its tokens, side and price come from here.
CREATE TABLE IF NOT EXISTS dex_orders
(
    order_id     UInt128,
    maker        String,
    base         LowCardinality(String),
    quote        LowCardinality(String) COMMENT 'quote token of base when the order was placed',
    is_bid       Bool,
    tick         Int16                  COMMENT 'price = (100000 + tick) / 100000',
    amount_raw   UInt128                COMMENT 'base units of base',
    is_flip      Bool,
    flip_tick    Int16,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY order_id
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a movement of value from one stable to another. A multi-hop swap is one row, first token to last.
CREATE TABLE IF NOT EXISTS flows
(
    kind           Enum8('swap' = 1, 'transfer' = 2, 'bridge' = 3),
    from_token     LowCardinality(String),
    to_token       LowCardinality(String),
    account        String                    COMMENT 'who swapped',
    amount_in_raw  UInt128                   COMMENT 'base units of from_token',
    amount_out_raw UInt128                   COMMENT 'base units of to_token',
    usd_micros     Nullable(UInt128)         COMMENT '1e-6 USD at the block''s own peg sample; null when neither end is quoted',
    path           Array(LowCardinality(String)) COMMENT 'from_token, the hops, to_token',
    block_number   UInt64                    CODEC(DoubleDelta, ZSTD(1)),
    log_index      UInt32                    COMMENT 'of the transfer that pays the swap out',
    block_time     DateTime('UTC')           CODEC(DoubleDelta, ZSTD(1)),
    tx_hash        String                    CODEC(ZSTD(1))
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an event that changes a stable's supply or its cap.
CREATE TABLE IF NOT EXISTS supply_events
(
    kind         Enum8('mint' = 1, 'burn' = 2, 'burn_blocked' = 3, 'cap' = 4),
    stable       LowCardinality(String),
    account      String                COMMENT 'mint: receiver, burn: holder, cap: who set it',
    amount_raw   UInt256               COMMENT 'base units; the new cap for kind cap',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a read of a stable's state at a block: when it is first seen and at every block with an event that changes it.
CREATE TABLE IF NOT EXISTS state_reads
(
    stable       LowCardinality(String),
    supply_raw   UInt256               COMMENT 'base units',
    cap_raw      UInt256               COMMENT 'base units; 2^128-1 means no cap',
    paused       Bool,
    policy_id    UInt64,
    policy_type  Enum8('reject_all' = 0, 'allow_all' = 1, 'whitelist' = 2, 'blacklist' = 3, 'compound' = 4),
    policy_admin Nullable(String)      COMMENT 'null for the built-in policies 0 and 1',
    block_number UInt64,
    block_time   DateTime('UTC')
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number)
SETTINGS non_replicated_deduplication_window = 1000;
