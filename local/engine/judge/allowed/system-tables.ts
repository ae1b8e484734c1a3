import { words } from './words.js'

/**
 * Tables of the database system that users other than the owner may read, by reason. The rest shows other users, paths,
 * other users' queries or the inside of the process, and is the owner's; so is any table that a later version adds.
 */
const groups = {
  'what tools read to show a schema; rows only of what the user may see': `
    databases tables columns data_skipping_indices projections dictionaries parts parts_columns projection_parts
    projection_parts_columns detached_parts detached_tables constraints mutations merges moves view_refreshes replicas`,
  'what this version offers': `
    functions table_functions table_engines database_engines formats data_type_families aggregate_function_combinators
    codecs collations completions contributors data_skipping_index_types dictionary_layouts dictionary_sources
    documentation graphite_retentions keywords licenses merge_tree_settings settings settings_changes time_zones
    tokenizers unicode build_options privileges`,
  'sources of rows': 'one numbers numbers_mt zeros zeros_mt primes',
  'counters of the whole server, without texts': 'metrics events warnings',
  'the user’s own, by row policies and by the engine': 'processes query_log current_roles enabled_roles',
}

export const allowedSystemTables: ReadonlySet<string> = new Set(Object.values(groups).flatMap(words))

/**
 * The other tables of version 26.7.2.1, whose rows are hidden in addition, however they are reached: the engine asks for
 * no grants on tables of the database system.
 */
export const hiddenSystemTables: readonly string[] = words(`
  asynchronous_inserts asynchronous_loader azure_queue_metadata_cache azure_queue_settings background_schedule_pool
  backups certificates clusters dashboards database_replicas dimensional_metrics disk_types disks distributed_ddl_queue
  distribution_queue dns_cache dropped_tables dropped_tables_parts errors fail_points filesystem_cache
  filesystem_cache_settings grants histogram_metrics hypothetical_indexes iceberg_files iceberg_history jemalloc_bins
  jemalloc_profile_text jemalloc_stats kafka_consumers macros masking_policies models named_collections
  part_moves_between_shards query_cache query_condition_cache quota_limits quota_usage quotas quotas_usage
  remote_data_paths replicated_fetches replicated_merge_tree_settings replication_queue resources rocksdb role_grants
  roles row_policies s3_queue_settings s3queue_metadata_cache scheduler schema_inference_cache server_settings
  settings_profile_elements settings_profiles stack_trace storage_policies symbols user_defined_functions
  user_directories user_processes users workloads
`)
