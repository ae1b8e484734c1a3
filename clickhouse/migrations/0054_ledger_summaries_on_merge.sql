-- Ingest inserts two rows a batch, each a part of its own. Their summary (migration 0034) took a quarter of the time of these
-- inserts, and is of no use before parts are merged: merges build it. Until then a part is read as it is.
ALTER TABLE ingest_batches MODIFY SETTING materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;
