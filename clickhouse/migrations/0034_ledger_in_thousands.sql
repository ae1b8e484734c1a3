-- The ledger has two rows a block, and nothing in it may ever be merged away: what was known at an instant rests on when
-- each of them was recorded. So every part of the table keeps a summary beside its rows, one row for a thousand numbers of a
-- track. Its batches follow each other without a gap, an overlap or a repetition exactly if the sum over
-- hash(after its last block) - hash(its first block) is that of one batch from the first block to the last: all others
-- cancel out. A read that needs every batch takes the summary where that holds and the rows where it does not
-- (clickhouse/chain/covered-ranges.ts). A part that has no summary yet is read as it is.
ALTER TABLE ingest_batches MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE ingest_batches ADD PROJECTION IF NOT EXISTS thousands
(
    SELECT track, state, intDiv(sequence_number, 1000), families, stables,
           min(sequence_number), max(sequence_number), min(from_block), max(to_block), min(recorded_at), max(recorded_at),
           sum(cityHash64(to_block + 1) - cityHash64(from_block))
    GROUP BY track, state, intDiv(sequence_number, 1000), families, stables
);

ALTER TABLE ingest_batches MATERIALIZE PROJECTION thousands;

-- The batches of a day are found without knowing their numbers.
ALTER TABLE ingest_batches ADD INDEX IF NOT EXISTS recorded_index recorded_at TYPE minmax GRANULARITY 1;

ALTER TABLE ingest_batches MATERIALIZE INDEX recorded_index;
