-- On which side of the peg an excursion began. It is decided by the first sample outside, so it is the same in every row
-- of an excursion and as of any time.
ALTER TABLE peg_events
    ADD COLUMN IF NOT EXISTS direction Nullable(Enum8('below' = 1, 'above' = 2))
        COMMENT 'side of the first sample outside; null if it was found before this column, and that sample is not stored' AFTER started_block;

-- Rows from before have the side of their first sample too. They keep their versions, and of rows with the same version the
-- engine keeps the last one.
INSERT INTO peg_events
SELECT excursions.* REPLACE (CAST(if(samples.sell_micros > 1000000, 'above', 'below') AS Nullable(Enum8('below' = 1, 'above' = 2))) AS direction)
FROM (SELECT * FROM peg_events FINAL WHERE direction IS NULL) AS excursions
INNER JOIN
(
    SELECT stable, block_time, block_number, sell_micros FROM peg_samples
    WHERE (stable, block_time, block_number) IN (SELECT stable, started_at, started_block FROM peg_events FINAL WHERE direction IS NULL)
      AND sell_micros IS NOT NULL
) AS samples
    ON samples.stable = excursions.stable AND samples.block_time = excursions.started_at AND samples.block_number = excursions.started_block
SETTINGS insert_deduplicate = 0;
