-- What was taken back, and the newest state of each component, are few among all events. So every part of the log keeps
-- beside its rows, in the order of types, when each subject was first and last in an event of a type.
ALTER TABLE events MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE events ADD PROJECTION IF NOT EXISTS subjects
(
    SELECT type, subject, max(sequence_number), min(recorded_at) GROUP BY type, subject
);

ALTER TABLE events MATERIALIZE PROJECTION subjects;

-- Numbers and times grow together. Only rows that are older than event.retracted have `retracted`.
ALTER TABLE events
    ADD INDEX IF NOT EXISTS recorded_index recorded_at TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS retracted_index JSONExtractBool(data, 'retracted') TYPE set(2) GRANULARITY 1;

ALTER TABLE events MATERIALIZE INDEX recorded_index;

ALTER TABLE events MATERIALIZE INDEX retracted_index;
