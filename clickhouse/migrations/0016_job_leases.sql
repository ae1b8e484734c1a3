-- Which process runs the jobs. Terms count from 1, and the process with the newest one runs them. A term can be claimed
-- once only (the insert's deduplication token is the term), so no two processes ever have the same. One row when a term
-- is claimed, one while it is held, which later ones replace, and one when it is given up.
CREATE TABLE IF NOT EXISTS job_leases
(
    term        UInt64,
    state       Enum8('claimed' = 1, 'held' = 2, 'released' = 3),
    instance    String               COMMENT 'random id of the process',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(recorded_at) ORDER BY (term, state)
SETTINGS non_replicated_deduplication_window = 1000;
