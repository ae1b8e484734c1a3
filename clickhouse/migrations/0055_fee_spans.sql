-- The fee economics need the last choice of each account as of any instant, and what was paid until then. Both are kept for
-- spans of the calendar, so that an answer reads whole years, the whole months since, and the rows of the rest of the month.

-- One row an account and calendar month, or year, in which it chose a fee token: its last choice there. Replaced by the later
-- one: repeating an insert changes nothing, and an older choice that a backfill adds takes its place whenever it comes.
CREATE TABLE IF NOT EXISTS fee_choices
(
    months     UInt8                                COMMENT 'length of the span: 1 or 12',
    span_start DateTime('UTC')                      COMMENT 'first second of the span' CODEC(DoubleDelta, ZSTD(1)),
    chooser    UInt128                              COMMENT 'as in fee_elections' CODEC(NONE),
    chosen_by  Enum8('user' = 1, 'validator' = 2),
    chosen     LowCardinality(String)               COMMENT 'the stable',
    position   UInt128                              COMMENT 'where in the chain it was chosen: block_number * 2^32 + log_index' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(position) ORDER BY (months, span_start, chooser);

CREATE MATERIALIZED VIEW IF NOT EXISTS fee_choices_mv TO fee_choices AS
SELECT months, if(months = 12, toDateTime(toStartOfYear(block_time), 'UTC'), toDateTime(toStartOfMonth(block_time), 'UTC')) AS span_start, chooser,
       any(kind) AS chosen_by,
       argMax(stable, toUInt128(block_number) * 4294967296 + log_index) AS chosen,
       max(toUInt128(block_number) * 4294967296 + log_index) AS position
FROM fee_elections ARRAY JOIN [1, 12] AS months
GROUP BY months, span_start, chooser;

-- The choices that are there already. May be repeated.
INSERT INTO fee_choices
SELECT months, if(months = 12, toDateTime(toStartOfYear(block_time), 'UTC'), toDateTime(toStartOfMonth(block_time), 'UTC')) AS span_start, chooser,
       any(kind) AS chosen_by,
       argMax(stable, toUInt128(block_number) * 4294967296 + log_index) AS chosen,
       max(toUInt128(block_number) * 4294967296 + log_index) AS position
FROM fee_elections ARRAY JOIN [1, 12] AS months
GROUP BY months, span_start, chooser;

-- What was paid is a sum, which every part of the table keeps for its months beside its rows. A part that has none yet is read
-- as it is.
ALTER TABLE fee_distributions MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE fee_distributions ADD PROJECTION IF NOT EXISTS months
(
    SELECT stable, toStartOfMonth(block_time), sum(toUInt256(amount_raw)), count() GROUP BY stable, toStartOfMonth(block_time)
);

ALTER TABLE fee_distributions MATERIALIZE PROJECTION months;
