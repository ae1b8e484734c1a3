-- Blocks, and what stablecoins are. Facts, here and in the next files: one row a fact, never changed. Integers are the
-- chain's own, amounts are base units (6 decimals), addresses and hashes are lower-case hex. Every table of facts has a
-- deduplication window, because a batch is repeated with the same tokens after a crash. ZSTD halves a hexadecimal hash,
-- which LZ4 cannot.

-- One row a block. Written last in a batch: a block that is here has all of its facts in the other tables.
CREATE TABLE IF NOT EXISTS blocks (
    block_number UInt64          CODEC(DoubleDelta, ZSTD(1)),
    block_time   DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    block_hash   String          CODEC(ZSTD(1)),
    parent_hash  String          CODEC(ZSTD(1)),
    tx_count     UInt32          CODEC(T64, ZSTD(1)),
    log_count    UInt32          CODEC(T64, ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY block_number
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stablecoin: the factory's TokenCreated, or a genesis token (block 0, no transaction). Anybody can create
-- one with texts of any length, so symbol and currency are cut to 64 characters (Unicode code points) and name to 256.
CREATE TABLE IF NOT EXISTS stablecoins (
    stable      String CODEC(ZSTD(1)),
    symbol      String CODEC(ZSTD(1)),
    name        String CODEC(ZSTD(1)),
    currency    String COMMENT 'the token''s own currency(), USD for a dollar stable' CODEC(ZSTD(1)),
    truncated   Array(Enum8('symbol' = 1, 'name' = 2, 'currency' = 3)) COMMENT 'which of the texts are longer on the chain' CODEC(ZSTD(1)),
    quote_token String COMMENT 'at creation; later changes are in quote_token_updates' CODEC(ZSTD(1)),
    admin       String CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree ORDER BY stable SETTINGS non_replicated_deduplication_window = 1000;

-- One row each time that ingest starts with another token list or TRACK than before: which stables are listed, and
-- whose pegs are sampled, from a block on. A number can be written only once (it is the deduplication token). Of two
-- rows that hold for a block, the one with the higher number counts.
CREATE TABLE IF NOT EXISTS token_lists (
    sequence_number UInt64                                       COMMENT 'counts the lists from 1',
    from_block      UInt64                                       COMMENT 'the first block that was read with it; 0 for the first list',
    holds_from      DateTime('UTC')                              COMMENT 'from this moment on answers use it; 1970 for the first list',
    track           Enum8('listed' = 1, 'all' = 2, 'paired' = 3) COMMENT 'whose pegs are sampled: listed stables, all, or listed ones and the first others with a book',
    stables         Array(String)                                COMMENT 'the listed addresses in order; some may not exist yet',
    source          String                                       COMMENT 'name and version of the list',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = MergeTree ORDER BY sequence_number SETTINGS non_replicated_deduplication_window = 1000;

-- One row a completed change of a stable's quote token.
CREATE TABLE IF NOT EXISTS quote_token_updates (
    stable      String CODEC(ZSTD(1)),
    quote_token String CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree ORDER BY (stable, block_number, log_index) SETTINGS non_replicated_deduplication_window = 1000;

-- One row a NextQuoteTokenSet. What a stable is quoted in changes only with the row in quote_token_updates.
CREATE TABLE IF NOT EXISTS quote_token_proposals (
    stable      LowCardinality(String),
    quote_token String                 CODEC(ZSTD(1)),
    updater     String                 CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a LogoURIUpdated. Since fork T5.
CREATE TABLE IF NOT EXISTS logo_updates (
    stable   LowCardinality(String),
    logo_uri String                 COMMENT 'as the issuer wrote it: neither checked nor fetched' CODEC(ZSTD(1)),
    updater  String                 CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;
