-- Two more results of a quote. out_of_range: below a half or above twice the amount, which no book allows; such a quote
-- has no price, so that sums of deviations and of their squares hold whatever is quoted. too_deep: more than eight books
-- lie between the stable and the reference stable, and the exchange is not asked. Rows from before stay as they are.
ALTER TABLE peg_samples
    MODIFY COLUMN status Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7, 'out_of_range' = 8, 'too_deep' = 9);

ALTER TABLE depth_samples
    MODIFY COLUMN sell_status Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7, 'out_of_range' = 8, 'too_deep' = 9),
    MODIFY COLUMN buy_status Enum8('quoted' = 1, 'anchor' = 2, 'no_liquidity' = 3, 'no_pair' = 4, 'not_usd' = 5, 'paused' = 6, 'failed' = 7, 'out_of_range' = 8, 'too_deep' = 9);
