-- Payments for requests, step by step; rows are never changed. A credential is accepted before its transaction is
-- broadcast, settled when that is on the chain, answered when its request has its answer, and failed when the chain
-- would not carry it out; unanswered says that a request has ended without any of these being the end of it. An attempt to use a credential can be claimed once only (the insert's deduplication token is
-- the challenge and the attempt), so that no two requests use it at the same time. Of one attempt there are two rows
-- where gas is sponsored, as the fee payer's signature makes another hash.
CREATE TABLE IF NOT EXISTS payments
(
    challenge_id      String                 COMMENT 'of the challenge that is answered; a challenge is paid once',
    step              Enum8('accepted' = 1, 'settled' = 2, 'answered' = 3, 'failed' = 4, 'unanswered' = 5),
    attempt           UInt8                  COMMENT 'how many times the credential was in use before',
    claim             String                 COMMENT 'random, of the request whose attempt this is',
    credential_digest String                 COMMENT 'SHA-256, hexadecimal; the credential itself is kept nowhere',
    scope             String                 COMMENT 'the route, and a digest of its parameters',
    mode              Enum8('pull' = 1, 'push' = 2) COMMENT 'who broadcasts: the service, or the payer',
    payer             LowCardinality(String) COMMENT 'lower case; empty where the credential does not say',
    recipient         LowCardinality(String) COMMENT 'lower case',
    currency          LowCardinality(String) COMMENT 'TIP-20 address, lower case',
    amount_raw        UInt128                COMMENT 'base units of the currency',
    chain_id          UInt64,
    realm             LowCardinality(String) COMMENT 'of the challenge; the memo of the transfer has its fingerprint',
    tx_hash           String,
    recorded_at       DateTime64(3, 'UTC')   DEFAULT now64(3),
    INDEX by_tx_hash tx_hash TYPE bloom_filter GRANULARITY 1
)
ENGINE = MergeTree ORDER BY (challenge_id, step, attempt)
SETTINGS non_replicated_deduplication_window = 10000;
