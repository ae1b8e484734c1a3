-- What happens on the DEX beside the placing of orders: one row a log, never changed afterwards. Integers are the
-- chain's own, amounts are base units (6 decimals), addresses and hashes are lower-case hex. Blocks that were taken in
-- before these tables existed have no rows here until they are read again.

-- One row a PairCreated: from here on there is a book.
CREATE TABLE IF NOT EXISTS dex_pairs
(
    base         String,
    quote        String,
    pair_key     String COMMENT 'what the DEX calls the book',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree ORDER BY (base, quote)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an OrderFlipped: a filled order stands on the other side of its book from here on, under its own id. Since
-- fork T5; before it, an order that flipped was placed anew, with an id of its own.
CREATE TABLE IF NOT EXISTS dex_order_flips
(
    order_id     UInt128,
    maker        String,
    base         LowCardinality(String),
    is_bid       Bool    COMMENT 'from here on',
    tick         Int16   COMMENT 'from here on; price = (100000 + tick) / 100000',
    amount_raw   UInt128 COMMENT 'base units of base',
    flip_tick    Int16,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (order_id, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a fill, whole or partial. The log has the order and the base amount; the rest is the order's.
CREATE TABLE IF NOT EXISTS dex_fills
(
    order_id     UInt128,
    maker        String,
    taker        String,
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
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (base, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an order that was taken back (OrderCancelled), or that was filled and could not flip (FlipFailed, since fork
-- T5). An order that is filled for good has no row: its last fill is not partial.
CREATE TABLE IF NOT EXISTS dex_order_ends
(
    kind         Enum8('cancelled' = 1, 'flip_failed' = 2),
    order_id     UInt128,
    maker        Nullable(String) COMMENT 'kind flip_failed only: a cancellation does not say',
    reason       Nullable(String) COMMENT 'kind flip_failed only: the selector of the error',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (order_id, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;
