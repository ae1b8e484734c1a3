-- Transfers of stables, and who holds them. The table transfers is a family of facts of its own, because transfers are
-- many and reading them is optional (TRACK_HOLDERS). Blocks that were read without them have none until a backfill.

-- One row a Transfer log of a stable, mints and burns included. Without the transaction's hash, which would be as large
-- as the rest of the row: block_number and log_index are enough to find it.
CREATE TABLE IF NOT EXISTS transfers (
    stable       LowCardinality(String),
    kind         Enum8('transfer' = 1, 'mint' = 2, 'burn' = 3, 'fee' = 4, 'forward' = 5, 'custody' = 6) COMMENT 'fee: the last log of its transaction, to the fee manager; forward: from a virtual address to its owner, the second log of one movement; custody: to or from the channel reserve or the receive guard',
    sender       String                 COMMENT 'the zero address for a mint' CODEC(ZSTD(1)),
    recipient    String                 COMMENT 'the zero address for a burn' CODEC(ZSTD(1)),
    amount_raw   UInt128                COMMENT 'base units' CODEC(ZSTD(1)),
    block_number UInt64                 CODEC(DoubleDelta, ZSTD(1)),
    log_index    UInt32                 CODEC(T64, ZSTD(1)),
    block_time   DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a transfer that the receiver's policy holds back (TransferBlocked), and one when the hold ends, by a claim
-- (ReceiptClaimed) or by a burn (ReceiptBurned). Since fork T6.
CREATE TABLE IF NOT EXISTS held_transfers (
    kind          Enum8('held' = 1, 'claimed' = 2, 'burned' = 3),
    stable        LowCardinality(String),
    receiver      String                 COMMENT 'for whom it was meant' CODEC(ZSTD(1)),
    blocked_nonce UInt64                 COMMENT 'names the hold: stable, receiver and nonce are the same in all of its rows',
    amount_raw    UInt128,
    originator    Nullable(String)       COMMENT 'who sent it; kinds claimed and burned' CODEC(ZSTD(1)),
    caller        Nullable(String)       COMMENT 'who ended the hold' CODEC(ZSTD(1)),
    recipient     Nullable(String)       COMMENT 'who got the amount; kind claimed' CODEC(ZSTD(1)),
    receipt       Nullable(String)       COMMENT 'what a claim has to show; kind held' CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a transfer to a virtual address, which the chain passes on in the same moment: two Transfer logs move the
-- amount once. log_index is that of the second. Since fork T3.
CREATE TABLE IF NOT EXISTS virtual_forwards (
    stable          LowCardinality(String),
    sender          String                 CODEC(ZSTD(1)),
    virtual_address String                 CODEC(ZSTD(1)),
    recipient       String                 COMMENT 'whose virtual address it is' CODEC(ZSTD(1)),
    amount_raw      UInt128,
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stable, slot and holder of more than nothing: the balances at the slot, so that those of a later instant
-- need only the transfers since. They count only if holder_snapshots has their snapshot_id, which is written after
-- them.
CREATE TABLE IF NOT EXISTS holder_balances (
    stable      LowCardinality(String),
    slot_at     DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)),
    snapshot_id UInt64                 COMMENT 'random: names the run that wrote the row' CODEC(ZSTD(1)),
    balance_raw UInt128                COMMENT 'base units, after all transfers with block_time <= slot_at' CODEC(ZSTD(1)),
    holder      FixedString(20)        COMMENT 'the bytes of the address' CODEC(NONE)
) ENGINE = MergeTree PARTITION BY toYYYYMM(slot_at) ORDER BY (stable, slot_at, snapshot_id, balance_raw)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a stable and slot whose balances are kept. It no longer counts once a rollback has removed a block before the
-- slot: the slot then has one of a higher revision, or none. Nothing published depends on which slots have one.
CREATE TABLE IF NOT EXISTS holder_snapshots (
    stable       LowCardinality(String),
    slot_at      DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)),
    revision     UInt32                 COMMENT 'rollbacks and changes of history by then' CODEC(T64, ZSTD(1)),
    published_at DateTime64(3, 'UTC')   COMMENT 'clock of the jobs when the balances were written' CODEC(Delta, ZSTD(1)),
    snapshot_id  UInt64                 COMMENT 'of its rows in holder_balances' CODEC(ZSTD(1)),
    holder_count UInt64                 COMMENT 'number of these rows' CODEC(T64, ZSTD(1)),
    supply_raw   UInt256                COMMENT 'the sum of their balances, base units' CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(slot_at) ORDER BY (stable, slot_at, published_at)
SETTINGS non_replicated_deduplication_window = 1000;
