-- The server refreshes the windows that live answers use by itself, with the profile of the user who created the view, not
-- with the settings of a request. What the statement relies on is therefore part of it; the values are those of
-- clickhouse/store/settings.ts.
ALTER TABLE peg_windows_mv MODIFY QUERY
SELECT stable, window_seconds, as_of, quoted_count, unquoted_count, deviation_sum, deviation_square_sum,
       deviation_min, deviation_max, seconds_outside_10bps, seconds_outside_50bps
FROM peg_windows_at(as_of = (SELECT toStartOfFiveMinutes(max(block_time)) FROM blocks))
SETTINGS aggregate_functions_null_for_empty = 0, allow_experimental_analyzer = 1, enable_global_with_statement = 1,
         extremes = 0, final = 0, force_index_by_date = 0, force_optimize_projection = 0, force_primary_key = 0,
         limit = 0, offset = 0, prefer_column_name_to_alias = 0;
