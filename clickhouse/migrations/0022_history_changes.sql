-- What the jobs know of backfills. A backfill adds blocks before slots that are done, or facts to blocks that are in: then
-- what those slots have found is not what one pass over all of history finds, and they are done again. One row each time
-- that the jobs have seen a backfill at its end. A number can be written once only (the insert's deduplication token is the
-- number), so two workers who see the same write one row.
CREATE TABLE IF NOT EXISTS history_changes
(
    sequence_number   UInt64                             COMMENT 'counts the changes from 1; may leave numbers out',
    backfill_sequence UInt64                             COMMENT 'the newest batch of the track backfill that this change, or one before it, is about',
    kept_time         DateTime('UTC')                    COMMENT 'time of the oldest block that it is about: slots from here on are due again',
    after_rollback    UInt64                             COMMENT 'the newest rollback that was planned by then; 0 when none was',
    recorded_at       DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY sequence_number
SETTINGS non_replicated_deduplication_window = 1000;

-- All that makes slots due again, rollbacks and changes of history, in one order: a slot from kept_time on counts as done
-- when it was run under this revision or a higher one. While there are no changes, a revision is the number of a rollback,
-- and it never becomes less. It is what the columns revision of other tables have. is_rollback: facts were removed, so
-- that what was made of them is wrong; without it some were added, and what was made without them is only less.
CREATE VIEW IF NOT EXISTS history_revisions AS
SELECT sequence_number + arrayMax(arrayPushBack(arrayMap(change -> if(change.1 < sequence_number, change.2, 0), changes), 0)) AS revision,
       kept_time, is_done, true AS is_rollback
FROM
(
    SELECT sequence_number, any(kept_time) AS kept_time, max(state = 'done')::Bool AS is_done,
           (SELECT groupUniqArray((after_rollback, sequence_number)) FROM history_changes) AS changes
    FROM ingest_rollbacks GROUP BY sequence_number
)
UNION ALL
SELECT after_rollback + sequence_number AS revision, kept_time, true AS is_done, false AS is_rollback
FROM history_changes;
