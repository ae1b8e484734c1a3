-- One row a log that changes what the exchange quotes, as it was logged: from these alone, its books are rebuilt at any
-- block. What an event does not have is 0, empty or false.
CREATE TABLE IF NOT EXISTS exchange_events (
    event        Enum8('TokenCreated' = 1, 'QuoteTokenUpdate' = 2, 'PauseStateUpdate' = 3, 'PairCreated' = 4, 'OrderPlaced' = 5, 'OrderFilled' = 6, 'OrderFlipped' = 7, 'FlipFailed' = 8, 'OrderCancelled' = 9),
    token        LowCardinality(String) COMMENT 'that was created, has another quote token, or is paused; of a pair or an order, its base',
    quote        LowCardinality(String) COMMENT 'the quote token of a token from here on, or of a pair',
    order_id     UInt128                CODEC(ZSTD(1)),
    maker        String                 COMMENT 'of an order that is placed or flips' CODEC(ZSTD(1)),
    amount_raw   UInt128                COMMENT 'base units of base that are placed, filled, or stand there again' CODEC(ZSTD(1)),
    is_bid       Bool                   COMMENT 'from here on',
    tick         Int16                  COMMENT 'from here on; price = (100000 + tick) / 100000',
    flip_tick    Int16                  COMMENT 'the tick on the other side to which a flip order goes once it is filled',
    is_flip      Bool                   COMMENT 'a flip order is placed',
    is_partial   Bool                   COMMENT 'after a fill, something of the order is left',
    is_paused    Bool                   COMMENT 'from here on',
    block_number UInt64                 CODEC(DoubleDelta, ZSTD(1)),
    log_index    UInt32                 CODEC(T64, ZSTD(1)),
    block_time   DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

DROP TABLE IF EXISTS dex_order_ends;

-- When each fork came changes what the exchange quotes.
ALTER TABLE chain_forks ADD COLUMN IF NOT EXISTS schedule Array(Tuple(String, UInt32)) COMMENT 'all forks: name, time of activation in unix seconds' AFTER active;

-- One row a block at whose end the books were kept, so that later ones need only the logs since. Of final and committed blocks alone.
CREATE TABLE IF NOT EXISTS exchange_snapshots (
    made_by      LowCardinality(String)       COMMENT 'version of the replay, and when flips began to keep their id',
    block_number UInt64,
    block_time   DateTime('UTC'),
    books        String                       COMMENT 'JSON: tokens, and every order that stands' CODEC(ZSTD(3)),
    recorded_at  DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(recorded_at) ORDER BY (made_by, block_number) SETTINGS non_replicated_deduplication_window = 1000;
