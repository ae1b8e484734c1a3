-- What may be done with a stable, and by whom: supply, pause, transfer policies and roles.

-- One row an event that changes a stable's supply or its cap.
CREATE TABLE IF NOT EXISTS supply_events (
    kind       Enum8('mint' = 1, 'burn' = 2, 'burn_blocked' = 3, 'cap' = 4, 'burn_at' = 5),
    stable     LowCardinality(String),
    account    String                 COMMENT 'mint: receiver, burn: holder, cap: who set it' CODEC(ZSTD(1)),
    amount_raw UInt256                COMMENT 'base units; the new cap for kind cap',
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a read of a stable's state at a block: when it is first seen, at every block with an event that changes it
-- and, of sampled stables, at the first block of every aligned five minutes: the opted-in supply moves with every
-- transfer of those who opted in to rewards, without an event.
CREATE TABLE IF NOT EXISTS state_reads (
    stable               LowCardinality(String),
    supply_raw           UInt256                COMMENT 'base units',
    cap_raw              UInt256                COMMENT 'base units; 2^128-1 means no cap',
    paused               Bool,
    policy_id            UInt64,
    policy_type          Enum8('reject_all' = 0, 'allow_all' = 1, 'whitelist' = 2, 'blacklist' = 3, 'compound' = 4, 'unknown' = 5) COMMENT 'unknown: of a type that a later fork has added',
    policy_admin         Nullable(String)       COMMENT 'null for the built-in policies 0 and 1' CODEC(ZSTD(1)),
    opted_in_raw         Nullable(UInt128)      COMMENT 'base units; null when not measured',
    reward_per_token_raw Nullable(UInt256)      COMMENT 'base units for a base unit, times 1e18; only ever grows; null when not measured',
    block_number         UInt64,
    block_time           DateTime('UTC')
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a PauseStateUpdate.
CREATE TABLE IF NOT EXISTS pause_events (
    stable    LowCardinality(String),
    is_paused Bool                   COMMENT 'from this log on',
    updater   String                 CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an event about transfer policies: a stable takes one (kind token_policy), or the registry's own event. Null
-- is what the event does not say.
CREATE TABLE IF NOT EXISTS policy_events (
    kind                     Enum8('token_policy' = 1, 'created' = 2, 'compound_created' = 3, 'admin' = 4, 'whitelist' = 5, 'blacklist' = 6, 'receive_policy' = 7),
    stable                   LowCardinality(Nullable(String)) COMMENT 'kind token_policy only',
    policy_id                Nullable(UInt64)                 COMMENT '0 rejects and 1 allows everybody; null for receive policies, which have none',
    policy_type              Nullable(Enum8('whitelist' = 0, 'blacklist' = 1, 'compound' = 2, 'unknown' = 3)),
    updater                  String                           COMMENT 'who did it' CODEC(ZSTD(1)),
    account                  Nullable(String)                 COMMENT 'the listed account, the new admin, or whose receive policy it is' CODEC(ZSTD(1)),
    is_member                Nullable(Bool)                   COMMENT 'whether the account is on the list from now on',
    sender_policy_id         Nullable(UInt64)                 COMMENT 'of a compound or receive policy',
    recipient_policy_id      Nullable(UInt64)                 COMMENT 'of a compound',
    mint_recipient_policy_id Nullable(UInt64)                 COMMENT 'of a compound',
    token_filter_id          Nullable(UInt64)                 COMMENT 'of a receive policy',
    recovery_authority       Nullable(String)                 COMMENT 'of a receive policy' CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (kind, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row a RoleMembershipUpdated (also one that changes nothing) or RoleAdminUpdated. Genesis tokens got their first
-- roles without a log.
CREATE TABLE IF NOT EXISTS role_events (
    kind           Enum8('granted' = 1, 'revoked' = 2, 'admin' = 3),
    stable         LowCardinality(String),
    role           LowCardinality(String) COMMENT '32-byte id',
    role_name      LowCardinality(String) COMMENT 'empty when the id is none of TIP-20''s',
    account        Nullable(String)       COMMENT 'who gets or loses the role; null for kind admin' CODEC(ZSTD(1)),
    new_admin_role Nullable(String)       COMMENT 'which role gives this one out from now on; kind admin only' CODEC(ZSTD(1)),
    sender         String                 CODEC(ZSTD(1)),
    block_number UInt64, log_index UInt32, block_time DateTime('UTC'), tx_hash String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, log_index)
SETTINGS non_replicated_deduplication_window = 1000;

-- One row an answer to hasRole: whether an account holds a role of a genesis token at the end of a block. The chain
-- cannot list who holds a role, so accounts that are known to administer stables are asked for. A missing row says
-- nothing; later changes are in role_events.
CREATE TABLE IF NOT EXISTS role_probes (
    stable       LowCardinality(String),
    account      String                 CODEC(ZSTD(1)),
    role         LowCardinality(String) COMMENT '32-byte id',
    role_name    LowCardinality(String),
    has_role     Bool,
    block_number UInt64,
    block_time   DateTime('UTC')
) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (stable, block_time, block_number, account, role)
SETTINGS non_replicated_deduplication_window = 1000;
