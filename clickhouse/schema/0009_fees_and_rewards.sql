-- Fees: who chose which stable for them, and what was paid and distributed. Rewards, which the chain ended with its
-- fork T7.

-- One row a UserTokenSet or ValidatorTokenSet. chooser says who as one number: to group by it takes less than half of
-- the time that kind and account take.
CREATE TABLE IF NOT EXISTS fee_elections (
    kind         Enum8('user' = 1, 'validator' = 2),
    account      String                             CODEC(ZSTD(1)),
    stable       LowCardinality(String)             COMMENT 'in which the account pays fees, or the validator is paid, from this log on',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String                             CODEC(ZSTD(1)),
    chooser      UInt128 MATERIALIZED reinterpretAsUInt128(sipHash128(kind, account)) COMMENT 'of kind and account: for grouping'
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an account and calendar month, or year, in which it chose a fee token: its last choice there. An answer reads
-- whole years, the whole months since, and the elections of the rest of the month. Replaced by the later choice:
-- repeating an insert changes nothing, and an older choice that a backfill adds takes its place whenever it comes.
CREATE TABLE IF NOT EXISTS fee_choices (
    months     UInt8                              COMMENT 'length of the span: 1 or 12',
    span_start DateTime('UTC')                    COMMENT 'first second of the span' CODEC(DoubleDelta, ZSTD(1)),
    chooser    UInt128                            COMMENT 'as in fee_elections' CODEC(NONE),
    chosen_by  Enum8('user' = 1, 'validator' = 2),
    chosen     LowCardinality(String)             COMMENT 'the stable',
    position   UInt128                            COMMENT 'where in the chain it was chosen: block_number * 2^32 + log_index' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(position) ORDER BY (months, span_start, chooser);

CREATE MATERIALIZED VIEW IF NOT EXISTS fee_choices_mv TO fee_choices AS
SELECT months, if(months = 12, toDateTime(toStartOfYear(block_time), 'UTC'), toDateTime(toStartOfMonth(block_time), 'UTC')) AS span_start, chooser,
       any(kind) AS chosen_by,
       argMax(stable, toUInt128(block_number) * 4294967296 + log_index) AS chosen,
       max(toUInt128(block_number) * 4294967296 + log_index) AS position
FROM fee_elections ARRAY JOIN [1, 12] AS months
GROUP BY months, span_start, chooser;

-- One row a FeesDistributed: a settlement, often long after the fees were paid. Each part also keeps the sums of its
-- months.
CREATE TABLE IF NOT EXISTS fee_distributions (
    validator  String                 CODEC(ZSTD(1)),
    stable     LowCardinality(String),
    amount_raw UInt128,
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1)),
    PROJECTION months (
        SELECT stable, toStartOfMonth(block_time), sum(toUInt256(amount_raw)), count() GROUP BY stable, toStartOfMonth(block_time)
    )
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000, lightweight_mutation_projection_mode = 'rebuild';

-- One row a change of a fee pool: liquidity in or out, or a trade that puts it back in balance. A fee that goes through
-- a pool has no log.
CREATE TABLE IF NOT EXISTS fee_pool_events (
    kind                 Enum8('mint' = 1, 'burn' = 2, 'rebalance' = 3),
    account              String                 COMMENT 'who did it' CODEC(ZSTD(1)),
    recipient            Nullable(String)       COMMENT 'who gets the liquidity (mint) or the tokens (burn); a rebalance does not say' CODEC(ZSTD(1)),
    user_token           LowCardinality(String),
    validator_token      LowCardinality(String),
    user_amount_raw      UInt128                COMMENT 'of user_token: out of the pool',
    validator_amount_raw UInt128                COMMENT 'of validator_token: into the pool, out of it for kind burn',
    liquidity_raw        UInt256                COMMENT 'made or burned; 0 for kind rebalance',
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a transaction with a fee, also a reverted one: its last log, a Transfer to the fee manager. Other transfers
-- to the fee manager are not fees. Where RETAIN_FEES_PAID_DAYS is set, a part is deleted as a whole when its newest row
-- is old enough, so that a month of rows is never rewritten.
CREATE TABLE IF NOT EXISTS fees_paid (
    stable       LowCardinality(String),
    payer        String                 COMMENT 'the sender, or who sponsors it' CODEC(ZSTD(1)),
    amount_raw   UInt128                CODEC(ZSTD(1)),
    block_number UInt64                 CODEC(DoubleDelta, ZSTD(1)),
    log_index    UInt32                 CODEC(T64, ZSTD(1)),
    block_time   DateTime('UTC')        CODEC(DoubleDelta, ZSTD(1)),
    tx_hash      String                 CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000, ttl_only_drop_parts = 1;

-- One row a RewardDistributed.
CREATE TABLE IF NOT EXISTS reward_distributions (
    stable     LowCardinality(String),
    funder     String                 CODEC(ZSTD(1)),
    amount_raw UInt128,
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a RewardRecipientSet.
CREATE TABLE IF NOT EXISTS reward_recipients (
    stable    LowCardinality(String),
    holder    String                 CODEC(ZSTD(1)),
    recipient String                 COMMENT 'the zero address: the holder takes part no longer' CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a payment of rewards: a Transfer from the token's own contract. A claim has no event of its own.
CREATE TABLE IF NOT EXISTS reward_claims (
    stable     LowCardinality(String),
    account    String                 COMMENT 'who was paid' CODEC(ZSTD(1)),
    amount_raw UInt128,
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;
