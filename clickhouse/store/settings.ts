import { type ClickHouseSettings, SettingsMap } from '@clickhouse/client'

/** What a limit of the profile does when it is reached: an error, never a part of the result. */
const OVERFLOW: ClickHouseSettings = {
  distinct_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  result_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
  transfer_overflow_mode: 'throw',
}

/** What statements mean: joins, nulls, aggregates over nothing, names, hours and days. */
const MEANING: ClickHouseSettings = {
  // These leave out rows.
  additional_result_filter: '',
  additional_table_filters: SettingsMap.from({}),
  aggregate_functions_null_for_empty: 0,
  allow_experimental_analyzer: 1,
  asterisk_include_alias_columns: 0,
  asterisk_include_materialized_columns: 0,
  asterisk_include_virtual_columns: 0,
  cast_keep_nullable: 0,
  // An older version's defaults, several of which are of this list.
  compatibility: '',
  empty_result_for_aggregation_by_empty_set: 0,
  enable_global_with_statement: 1,
  enable_named_columns_in_function_tuple: 0,
  enable_positional_arguments: 1,
  // Adds rows to a result, as `limit` and `offset` take some away.
  extremes: 0,
  limit: '0',
  offset: '0',
  final: 0,
  group_by_use_nulls: 0,
  join_any_take_last_row: 0,
  join_default_strictness: 'ALL',
  join_use_nulls: 0,
  prefer_column_name_to_alias: 0,
  // Of parameters without a time zone; if empty, the server's.
  session_timezone: 'UTC',
  transform_null_in: 0,
  union_default_mode: '',
  // Answers of a while ago.
  use_query_cache: 0,
  // These refuse the statements that use no index of that kind.
  force_index_by_date: 0,
  force_optimize_projection: 0,
  force_primary_key: 0,
}

/** What is stored, and when a deletion is done. */
const WRITES: ClickHouseSettings = {
  apply_deleted_mask: 1,
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: 0,
  input_format_force_null_for_omitted_fields: 0,
  lightweight_deletes_sync: '2',
  materialized_views_ignore_errors: 0,
}

/** How rows are written into an answer. */
const OUTPUT: ClickHouseSettings = {
  date_time_64_output_format_cut_trailing_zeros_align_to_groups_of_thousands: 0,
  date_time_output_format: 'iso',
  format_csv_delimiter: ',',
  output_format_csv_crlf_end_of_line: 0,
  output_format_decimal_trailing_zeros: 0,
  output_format_json_array_of_rows: 0,
  output_format_json_escape_forward_slashes: 1,
  output_format_json_named_tuples_as_objects: 1,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
}

/**
 * Settings that change a result, with the values that the statements of this project are written for. They are sent with
 * every request, because a user's profile may have others. Limits of time and memory stay the profile's.
 */
export const FIXED_SETTINGS: ClickHouseSettings = { ...OVERFLOW, ...MEANING, ...WRITES, ...OUTPUT }
