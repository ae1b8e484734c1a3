-- What was known when. A snapshot has two times: slot_at, which it is about, and published_at, from which on it was
-- shown. A slot that is done again adds a row and replaces none, as published_at is part of the key; what was shown at
-- some instant are the rows published by then. Of rows of the same stable and slot, that of the highest revision counts.

ALTER TABLE risk_snapshots
    ADD COLUMN IF NOT EXISTS published_at DateTime64(3, 'UTC') COMMENT 'clock of the jobs when the row was written' CODEC(Delta, ZSTD(1)),
    MODIFY ORDER BY (stable, slot_at, published_at);

ALTER TABLE risk_snapshots
    ADD COLUMN IF NOT EXISTS figures_hash UInt64 COMMENT 'of all other columns except revision; 0 in rows that are older than this column' CODEC(ZSTD(1));

-- The rows that are there were published when the run that wrote them ended. Where no such run is recorded, the time of
-- the slot stands for it, which is earlier. published_at is 0 only until the next statement but one: one that is repeated
-- adds the same keys once more, of which the engine keeps one.
INSERT INTO risk_snapshots
SELECT snapshots.* REPLACE (if(runs.ended_at > toDateTime64(0, 3, 'UTC'), runs.ended_at, toDateTime64(snapshots.slot_at, 3, 'UTC')) AS published_at)
FROM risk_snapshots AS snapshots
LEFT JOIN
(
    SELECT slot_at, revision, min(addMilliseconds(started_at, duration_ms)) AS ended_at
    FROM job_runs WHERE job = 'risk' AND state = 'done' GROUP BY slot_at, revision
) AS runs ON runs.slot_at = snapshots.slot_at AND runs.revision = snapshots.revision
WHERE snapshots.published_at = toDateTime64(0, 3, 'UTC')
SETTINGS insert_deduplicate = 0, join_use_nulls = 0;

DELETE FROM risk_snapshots WHERE published_at = toDateTime64(0, 3, 'UTC');

ALTER TABLE reserve_snapshots
    ADD COLUMN IF NOT EXISTS published_at DateTime64(3, 'UTC') COMMENT 'clock of the jobs when the row was written' CODEC(Delta, ZSTD(1)),
    MODIFY ORDER BY (stable, slot_at, published_at);

ALTER TABLE reserve_snapshots
    ADD COLUMN IF NOT EXISTS figures_hash UInt64 COMMENT 'of all other columns except revision; 0 in rows that are older than this column' CODEC(ZSTD(1));

INSERT INTO reserve_snapshots
SELECT snapshots.* REPLACE (if(runs.ended_at > toDateTime64(0, 3, 'UTC'), runs.ended_at, toDateTime64(snapshots.slot_at, 3, 'UTC')) AS published_at)
FROM reserve_snapshots AS snapshots
LEFT JOIN
(
    SELECT slot_at, revision, min(addMilliseconds(started_at, duration_ms)) AS ended_at
    FROM job_runs WHERE job = 'reserves' AND state = 'done' GROUP BY slot_at, revision
) AS runs ON runs.slot_at = snapshots.slot_at AND runs.revision = snapshots.revision
WHERE snapshots.published_at = toDateTime64(0, 3, 'UTC')
SETTINGS insert_deduplicate = 0, join_use_nulls = 0;

DELETE FROM reserve_snapshots WHERE published_at = toDateTime64(0, 3, 'UTC');

-- With recorded_at, when the change became known: of a rollback, when it was planned, since from then on what was made of
-- the removed blocks is no longer shown.
CREATE OR REPLACE VIEW history_revisions AS
SELECT sequence_number + arrayMax(arrayPushBack(arrayMap(change -> if(change.1 < sequence_number, change.2, 0), changes), 0)) AS revision,
       kept_time, is_done, true AS is_rollback, recorded_at
FROM
(
    SELECT sequence_number, any(kept_time) AS kept_time, max(state = 'done')::Bool AS is_done, min(recorded_at) AS recorded_at,
           (SELECT groupUniqArray((after_rollback, sequence_number)) FROM history_changes) AS changes
    FROM ingest_rollbacks GROUP BY sequence_number
)
UNION ALL
SELECT after_rollback + sequence_number AS revision, kept_time, true AS is_done, false AS is_rollback, recorded_at
FROM history_changes;
