-- Callers of the API: their keys, and what they paid.

-- One row a version of a key: the first is made with the key, the second revokes it, and neither ever changes. The key
-- itself is stored nowhere. It is 32 random bytes, so nobody finds by trying what has this SHA-256; a slow password
-- hash would protect nothing more, while every request paid for it.
CREATE TABLE IF NOT EXISTS api_keys (
    id                  String                         COMMENT 'key_ and 16 hexadecimal digits',
    version             UInt8,
    label               String                         COMMENT 'what it is for, in the words of who made it',
    prefix              String                         COMMENT 'the first characters of the key, to tell keys apart by; no secret',
    hash                String                         COMMENT 'SHA-256 of the key, hexadecimal',
    scopes              Array(LowCardinality(String)),
    requests_per_minute UInt32,
    created_at          DateTime64(3, 'UTC'),
    revoked_at          Nullable(DateTime64(3, 'UTC'))
) ENGINE = MergeTree ORDER BY (id, version) SETTINGS non_replicated_deduplication_window = 1000;

-- When a key was last used, at most one row a minute from each process of the API.
CREATE TABLE IF NOT EXISTS api_key_uses (
    id      String               COMMENT 'of the key',
    used_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(used_at) ORDER BY id SETTINGS non_replicated_deduplication_window = 1000;

-- One row a step of a payment for a request; rows are never changed. A credential is accepted before its transaction is
-- broadcast, settled when that is on the chain, answered when its request has its answer, and failed when the chain
-- would not carry it out; unanswered says that a request has ended without any of these being the end of it. An attempt
-- to use a credential can be claimed only once (the insert's deduplication token is the challenge and the attempt), so
-- that no two requests use it at the same time. One attempt has two rows where gas is sponsored, because the fee
-- payer's signature makes another hash.
CREATE TABLE IF NOT EXISTS payments (
    challenge_id      String                                COMMENT 'of the challenge that is answered; a challenge is paid once' CODEC(ZSTD(1)),
    step              Enum8('accepted' = 1, 'settled' = 2, 'answered' = 3, 'failed' = 4, 'unanswered' = 5),
    attempt           UInt8                                 COMMENT 'how many times the credential was in use before',
    claim             String                                COMMENT 'random, of the request whose attempt this is' CODEC(ZSTD(1)),
    credential_digest String                                COMMENT 'SHA-256, hexadecimal; the credential itself is kept nowhere' CODEC(ZSTD(1)),
    scope             String                                COMMENT 'the route, and a digest of its parameters' CODEC(ZSTD(1)),
    mode              Enum8('pull' = 1, 'push' = 2)         COMMENT 'who broadcasts: the service, or the payer',
    payer             LowCardinality(String)                COMMENT 'lower case; empty where the credential does not say',
    recipient         LowCardinality(String)                COMMENT 'lower case',
    currency          LowCardinality(String)                COMMENT 'TIP-20 address, lower case',
    amount_raw        UInt128                               COMMENT 'base units of the currency',
    chain_id          UInt64,
    realm             LowCardinality(String)                COMMENT 'of the challenge; the memo of the transfer has its fingerprint',
    tx_hash           String                                CODEC(ZSTD(1)),
    recorded_at       DateTime64(3, 'UTC') DEFAULT now64(3),
    INDEX by_tx_hash tx_hash TYPE bloom_filter GRANULARITY 1
) ENGINE = MergeTree ORDER BY (challenge_id, step, attempt) SETTINGS non_replicated_deduplication_window = 10000;
