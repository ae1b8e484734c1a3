-- Facts that a block's logs state by themselves, beyond supply and trade: one row a log, never changed afterwards.
-- Integers are the chain's own, amounts are base units (6 decimals), addresses and hashes are lower-case hex. Blocks
-- that were taken in before these tables existed have no rows here until they are read again.

-- One row a RoleMembershipUpdated (also one that changes nothing) or RoleAdminUpdated. Genesis tokens got their first
-- roles without a log.
CREATE TABLE IF NOT EXISTS role_events
(
    kind           Enum8('granted' = 1, 'revoked' = 2, 'admin' = 3),
    stable         LowCardinality(String),
    role           LowCardinality(String) COMMENT '32-byte id',
    role_name      LowCardinality(String) COMMENT 'empty when the id is none of TIP-20''s',
    account        Nullable(String)       COMMENT 'who gets or loses the role; null for kind admin',
    new_admin_role Nullable(String)       COMMENT 'which role gives this one out from now on; kind admin only',
    sender         String,
    block_number   UInt64,
    log_index      UInt32,
    block_time     DateTime('UTC'),
    tx_hash        String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a PauseStateUpdate.
CREATE TABLE IF NOT EXISTS pause_events
(
    stable       LowCardinality(String),
    is_paused    Bool                  COMMENT 'from this log on',
    updater      String,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an event about transfer policies: a stable takes one (kind token_policy), or the registry's own event. Null is
-- what the event does not say.
CREATE TABLE IF NOT EXISTS policy_events
(
    kind                     Enum8('token_policy' = 1, 'created' = 2, 'compound_created' = 3, 'admin' = 4, 'whitelist' = 5, 'blacklist' = 6, 'receive_policy' = 7),
    stable                   LowCardinality(Nullable(String)) COMMENT 'kind token_policy only',
    policy_id                Nullable(UInt64) COMMENT '0 rejects and 1 allows everybody; null for receive policies, which have none',
    policy_type              Nullable(Enum8('whitelist' = 0, 'blacklist' = 1, 'compound' = 2)),
    updater                  String           COMMENT 'who did it',
    account                  Nullable(String) COMMENT 'the listed account, the new admin, or whose receive policy it is',
    is_member                Nullable(Bool)   COMMENT 'whether the account is on the list from now on',
    sender_policy_id         Nullable(UInt64) COMMENT 'of a compound or receive policy',
    recipient_policy_id      Nullable(UInt64) COMMENT 'of a compound',
    mint_recipient_policy_id Nullable(UInt64) COMMENT 'of a compound',
    token_filter_id          Nullable(UInt64) COMMENT 'of a receive policy',
    recovery_authority       Nullable(String) COMMENT 'of a receive policy',
    block_number             UInt64,
    log_index                UInt32,
    block_time               DateTime('UTC'),
    tx_hash                  String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (kind, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a RewardDistributed. The chain ended rewards with its fork T7: none from there on.
CREATE TABLE IF NOT EXISTS reward_distributions
(
    stable       LowCardinality(String),
    funder       String,
    amount_raw   UInt128,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a RewardRecipientSet.
CREATE TABLE IF NOT EXISTS reward_recipients
(
    stable       LowCardinality(String),
    holder       String,
    recipient    String COMMENT 'the zero address: the holder takes part no longer',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a payment of rewards: a Transfer from the token's own contract. A claim has no event of its own.
CREATE TABLE IF NOT EXISTS reward_claims
(
    stable       LowCardinality(String),
    account      String COMMENT 'who was paid',
    amount_raw   UInt128,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a UserTokenSet or ValidatorTokenSet.
CREATE TABLE IF NOT EXISTS fee_elections
(
    kind         Enum8('user' = 1, 'validator' = 2),
    account      String,
    stable       LowCardinality(String) COMMENT 'in which the account pays fees, or the validator is paid, from this log on',
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a FeesDistributed: a settlement, often long after the fees were paid.
CREATE TABLE IF NOT EXISTS fee_distributions
(
    validator    String,
    stable       LowCardinality(String),
    amount_raw   UInt128,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a change of a fee pool: liquidity in or out, or a trade that puts it back in balance. A fee that goes through
-- a pool has no log.
CREATE TABLE IF NOT EXISTS fee_pool_events
(
    kind                 Enum8('mint' = 1, 'burn' = 2, 'rebalance' = 3),
    account              String           COMMENT 'who did it',
    recipient            Nullable(String) COMMENT 'who gets the liquidity (mint) or the tokens (burn); a rebalance does not say',
    user_token           LowCardinality(String),
    validator_token      LowCardinality(String),
    user_amount_raw      UInt128          COMMENT 'of user_token: out of the pool',
    validator_amount_raw UInt128          COMMENT 'of validator_token: into the pool, out of it for kind burn',
    liquidity_raw        UInt256          COMMENT 'made or burned; 0 for kind rebalance',
    block_number         UInt64,
    log_index            UInt32,
    block_time           DateTime('UTC'),
    tx_hash              String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a transaction, also a reverted one: its last log, a Transfer to the fee manager. Other transfers to the fee
-- manager are no fees. A transaction without a fee has no row.
CREATE TABLE IF NOT EXISTS fees_paid
(
    stable       LowCardinality(String),
    payer        String                COMMENT 'the sender, or who sponsors it',
    amount_raw   UInt128               CODEC(ZSTD(1)),
    block_number UInt64                CODEC(DoubleDelta, ZSTD(1)),
    log_index    UInt32                CODEC(T64, ZSTD(1)),
    block_time   DateTime('UTC')       CODEC(DoubleDelta, ZSTD(1)),
    tx_hash      String                CODEC(ZSTD(1))
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a transfer that the receiver's policy holds back (TransferBlocked), and one when the hold ends, by a claim
-- (ReceiptClaimed) or by a burn (ReceiptBurned). Since fork T6.
CREATE TABLE IF NOT EXISTS held_transfers
(
    kind          Enum8('held' = 1, 'claimed' = 2, 'burned' = 3),
    stable        LowCardinality(String),
    receiver      String           COMMENT 'for whom it was meant',
    blocked_nonce UInt64           COMMENT 'names the hold: stable, receiver and nonce are the same in all of its rows',
    amount_raw    UInt128,
    originator    Nullable(String) COMMENT 'who sent it; kinds claimed and burned',
    caller        Nullable(String) COMMENT 'who ended the hold',
    recipient     Nullable(String) COMMENT 'who got the amount; kind claimed',
    receipt       Nullable(String) COMMENT 'what a claim has to show; kind held',
    block_number  UInt64,
    log_index     UInt32,
    block_time    DateTime('UTC'),
    tx_hash       String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a transfer to a virtual address, which the chain passes on in the same moment: a label of two Transfer logs
-- that move the amount once. log_index is the second one's. Since fork T3.
CREATE TABLE IF NOT EXISTS virtual_forwards
(
    stable          LowCardinality(String),
    sender          String,
    virtual_address String,
    recipient       String COMMENT 'whose virtual address it is',
    amount_raw      UInt128,
    block_number    UInt64,
    log_index       UInt32,
    block_time      DateTime('UTC'),
    tx_hash         String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a NextQuoteTokenSet. What a stable is quoted in changes only with the row in quote_token_updates.
CREATE TABLE IF NOT EXISTS quote_token_proposals
(
    stable       LowCardinality(String),
    quote_token  String,
    updater      String,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a LogoURIUpdated. Since fork T5.
CREATE TABLE IF NOT EXISTS logo_updates
(
    stable       LowCardinality(String),
    logo_uri     String COMMENT 'as the issuer wrote it: neither checked nor fetched',
    updater      String,
    block_number UInt64,
    log_index    UInt32,
    block_time   DateTime('UTC'),
    tx_hash      String
)
ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;
