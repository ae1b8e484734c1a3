-- One row each time that ingest started with another token list or another TRACK than before: which stables are listed, and
-- whose pegs are sampled, from a block on. Nothing is replaced, so that what was listed or sampled at any time stays known.
-- A number can be written once only (the insert's deduplication token is the number); of two rows that hold for a block,
-- the one with the higher number counts.
CREATE TABLE IF NOT EXISTS token_lists
(
    sequence_number UInt64                             COMMENT 'counts the lists from 1',
    from_block      UInt64                             COMMENT 'the first block that was read with it; 0 for the first list',
    holds_from      DateTime('UTC')                    COMMENT 'from this moment on answers use it; 1970 for the first list',
    track           Enum8('listed' = 1, 'all' = 2)     COMMENT 'whose pegs are sampled: listed stables, or all',
    stables         Array(String)                      COMMENT 'the listed addresses in order; some may not exist yet',
    source          String                             COMMENT 'name and version of the list',
    recorded_at     DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree ORDER BY sequence_number
SETTINGS non_replicated_deduplication_window = 1000;

-- Until now each stable had the tier of the list that ingest had when the stable was created. That list holds from the
-- beginning. Pegs of all stables were sampled if an unlisted one has a sample.
INSERT INTO token_lists (sequence_number, from_block, holds_from, track, stables, source)
SELECT 1, 0, toDateTime(0, 'UTC'),
       if((SELECT count() FROM (SELECT 1 FROM peg_samples WHERE stable IN (SELECT stable FROM stablecoins WHERE tier = 'unlisted') LIMIT 1)) > 0, 'all', 'listed'),
       arraySort(groupArrayIf(stable, tier = 'listed')), 'the tiers that stables had until now'
FROM stablecoins
HAVING count() > 0 AND (SELECT count() FROM token_lists) = 0;

ALTER TABLE stablecoins DROP COLUMN IF EXISTS tier;
