-- An event of the type event.retracted takes back one that was announced: its subject is the id of that event, and its
-- stables are that event's. It goes to everyone who may have received that event, so its type is kept beside. Rows that
-- were there before took back nothing, except that a peg_break.ended with retracted = true in its data took back the
-- start with the same subject; they are read as they are.
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS retracted_type LowCardinality(String) DEFAULT '' COMMENT 'of event.retracted: the type of the event that it takes back';

-- A slot that is done again looks for the events that it announced before, by their time.
ALTER TABLE events
    ADD INDEX IF NOT EXISTS occurred_at_index occurred_at TYPE minmax GRANULARITY 1;

ALTER TABLE events MATERIALIZE INDEX occurred_at_index;
