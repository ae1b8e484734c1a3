-- Keys of the API, one row a version: the first is made with the key, the second revokes it, and neither ever changes. The
-- key itself is nowhere. It is 32 random bytes, so nobody finds it by trying what has this SHA-256, and a slow password
-- hash would protect nothing more while every request paid for it.
CREATE TABLE IF NOT EXISTS api_keys
(
    id                  String                           COMMENT 'key_ and 16 hexadecimal digits',
    version             UInt8,
    label               String                           COMMENT 'what it is for, in the words of who made it',
    prefix              String                           COMMENT 'the first characters of the key, to tell keys apart by; no secret',
    hash                String                           COMMENT 'SHA-256 of the key, hexadecimal',
    scopes              Array(LowCardinality(String)),
    requests_per_minute UInt32,
    created_at          DateTime64(3, 'UTC'),
    revoked_at          Nullable(DateTime64(3, 'UTC'))
)
ENGINE = MergeTree ORDER BY (id, version)
SETTINGS non_replicated_deduplication_window = 1000;

-- When a key was last used, at most one row a minute from each process of the API.
CREATE TABLE IF NOT EXISTS api_key_uses
(
    id      String               COMMENT 'of the key',
    used_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(used_at) ORDER BY id
SETTINGS non_replicated_deduplication_window = 1000;
