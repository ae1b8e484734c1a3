-- A year has some 400,000 runs, none of which may ever go: a slot without one is due. So every part of the table keeps a summary
-- beside its rows: of each job and day, which slots were run (as seconds of that day), the newest of them, and when the first
-- and the last run ended (clickhouse/jobs/done-slots.ts). A part that has no summary yet is read as it is.
ALTER TABLE job_runs MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE job_runs ADD PROJECTION IF NOT EXISTS days
(
    SELECT job, state, toDate(slot_at), revision, count(), max(slot_at), min(addMilliseconds(started_at, duration_ms)),
           max(addMilliseconds(started_at, duration_ms)), groupBitmapState(toUnixTimestamp(slot_at) % 86400)
    GROUP BY job, state, toDate(slot_at), revision
);

ALTER TABLE job_runs MATERIALIZE PROJECTION days;

-- The runs of the last day are found without knowing their slots.
ALTER TABLE job_runs ADD INDEX IF NOT EXISTS ended_index addMilliseconds(started_at, duration_ms) TYPE minmax GRANULARITY 1;

ALTER TABLE job_runs MATERIALIZE INDEX ended_index;
