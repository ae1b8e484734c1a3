-- With TRACK=paired the listed stables are sampled, and the first 100 others whose books were opened.
ALTER TABLE token_lists
    MODIFY COLUMN track Enum8('listed' = 1, 'all' = 2, 'paired' = 3) COMMENT 'whose pegs are sampled: listed stables, all, or listed ones and the first others with a book';
