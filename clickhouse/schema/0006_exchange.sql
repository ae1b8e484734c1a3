-- The exchange: books, orders, fills, and how much can be sold and bought.

-- One row a PairCreated: from here on there is a book.
CREATE TABLE IF NOT EXISTS dex_pairs (
    base     String CODEC(ZSTD(1)),
    quote    String CODEC(ZSTD(1)),
    pair_key String COMMENT 'what the DEX calls the book' CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree ORDER BY (base, quote) SETTINGS non_replicated_deduplication_window = 1000;

-- One row an order placed. A fill names only the order, so its tokens, side and price come from here.
CREATE TABLE IF NOT EXISTS dex_orders (
    order_id   UInt128,
    maker      String                 CODEC(ZSTD(1)),
    base       LowCardinality(String),
    quote      LowCardinality(String) COMMENT 'quote token of base when the order was placed',
    is_bid     Bool,
    tick       Int16                  COMMENT 'price = (100000 + tick) / 100000',
    amount_raw UInt128                COMMENT 'base units of base',
    is_flip    Bool,
    flip_tick  Int16,
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY order_id
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an OrderFlipped: a filled order stands on the other side of its book from here on, under its own id. Since
-- fork T5; before it, an order that flipped was placed again, with an id of its own.
CREATE TABLE IF NOT EXISTS dex_order_flips (
    order_id   UInt128,
    maker      String                 CODEC(ZSTD(1)),
    base       LowCardinality(String),
    is_bid     Bool                   COMMENT 'from here on',
    tick       Int16                  COMMENT 'from here on; price = (100000 + tick) / 100000',
    amount_raw UInt128                COMMENT 'base units of base',
    flip_tick  Int16,
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (order_id, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a fill, whole or partial. The log has the order and the base amount; the rest is the order's.
CREATE TABLE IF NOT EXISTS dex_fills (
    order_id     UInt128,
    maker        String                 CODEC(ZSTD(1)),
    taker        String                 CODEC(ZSTD(1)),
    base         LowCardinality(String),
    quote        LowCardinality(String),
    is_bid       Bool                   COMMENT 'the maker buys base',
    tick         Int16                  COMMENT 'price = (100000 + tick) / 100000',
    base_raw     UInt128                CODEC(ZSTD(1)),
    quote_raw    UInt128                COMMENT 'base_raw at the price; rounded down where the maker pays it, up where the taker does' CODEC(ZSTD(1)),
    is_partial   Bool                   COMMENT 'something of the order is left',
    block_number UInt64                 CODEC(DoubleDelta, ZSTD(1)),
    log_index    UInt32                 CODEC(T64, ZSTD(1)),
    block_time   DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)),
    tx_hash      String                 CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (base, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an order that was taken back (OrderCancelled), or that was filled and could not flip (FlipFailed, since fork
-- T5). An order that is filled for good has no row: its last fill is not partial.
CREATE TABLE IF NOT EXISTS dex_order_ends (
    kind     Enum8('cancelled' = 1, 'flip_failed' = 2),
    order_id UInt128,
    maker    Nullable(String)                          COMMENT 'kind flip_failed only: a cancellation does not say' CODEC(ZSTD(1)),
    reason   Nullable(String)                          COMMENT 'kind flip_failed only: the selector of the error' CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (order_id, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stable, block and size: what that many tokens sell for and what they cost at the end of the block, in the
-- reference stable. Taken at the first block of every aligned minute that is less than a minute after its parent, and
-- at the first block of every aligned five minutes whatever its parent. A failed quote has its status and no amount.
CREATE TABLE IF NOT EXISTS depth_samples (
    stable       LowCardinality(String) CODEC(ZSTD(1)),
    size_tokens  UInt32                 COMMENT 'whole tokens of the stable' CODEC(T64, ZSTD(1)),
    block_number UInt64                 CODEC(DoubleDelta, ZSTD(1)),
    block_time   DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)),
    sell_status  Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7, 'out_of_range' = 8, 'too_deep' = 9) CODEC(ZSTD(1)),
    sell_raw     Nullable(UInt64)       COMMENT 'base units of the reference stable got for size_tokens; null when there is no quote' CODEC(Delta, ZSTD(1)),
    buy_status   Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7, 'out_of_range' = 8, 'too_deep' = 9) CODEC(ZSTD(1)),
    buy_raw      Nullable(UInt64)       COMMENT 'base units of the reference stable paid for size_tokens; null when there is no quote' CODEC(Delta, ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, size_tokens, block_time, block_number)
SETTINGS non_replicated_deduplication_window = 1000;
