//! Settings of private servers that a study may give: those that move performance and can do nothing else.
//!
//! The one idea: a study may come from anybody. A server has settings that run commands, load libraries, write files or open
//! its door, and every version brings new ones, so that the list holds what is allowed, by full name, and nothing else.
//!
//! What it does not do: of a value it knows only that it is one line; the server refuses those that it does not take.

use crate::{At, DatabaseSpec, Engine};

/// The option that lets all others through.
pub const OPTION: &str = "--allow-server-settings";

const POSTGRES: &str = "
    autovacuum autovacuum_analyze_scale_factor autovacuum_analyze_threshold autovacuum_freeze_max_age autovacuum_max_workers
    autovacuum_multixact_freeze_max_age autovacuum_naptime autovacuum_vacuum_cost_delay autovacuum_vacuum_cost_limit
    autovacuum_vacuum_insert_scale_factor autovacuum_vacuum_insert_threshold autovacuum_vacuum_max_threshold
    autovacuum_vacuum_scale_factor autovacuum_vacuum_threshold autovacuum_work_mem autovacuum_worker_slots
    backend_flush_after bgwriter_delay bgwriter_flush_after bgwriter_lru_maxpages bgwriter_lru_multiplier
    checkpoint_completion_target checkpoint_flush_after checkpoint_timeout checkpoint_warning commit_delay commit_siblings
    commit_timestamp_buffers compute_query_id constraint_exclusion cpu_index_tuple_cost cpu_operator_cost cpu_tuple_cost
    cursor_tuple_fraction deadlock_timeout default_statistics_target default_transaction_isolation
    default_transaction_read_only dynamic_shared_memory_type effective_cache_size effective_io_concurrency
    enable_async_append enable_bitmapscan enable_distinct_reordering enable_gathermerge enable_group_by_reordering
    enable_hashagg enable_hashjoin enable_incremental_sort enable_indexonlyscan enable_indexscan enable_material
    enable_memoize enable_mergejoin enable_nestloop enable_parallel_append enable_parallel_hash enable_partition_pruning
    enable_partitionwise_aggregate enable_partitionwise_join enable_presorted_aggregate enable_self_join_elimination
    enable_seqscan enable_sort enable_tidscan from_collapse_limit fsync full_page_writes
    geqo geqo_effort geqo_generations geqo_pool_size geqo_seed geqo_selection_bias geqo_threshold gin_fuzzy_search_limit
    gin_pending_list_limit hash_mem_multiplier huge_page_size huge_pages idle_in_transaction_session_timeout
    io_combine_limit io_max_combine_limit io_max_concurrency io_method io_workers jit jit_above_cost
    jit_inline_above_cost jit_optimize_above_cost join_collapse_limit lock_timeout logical_decoding_work_mem
    maintenance_io_concurrency maintenance_work_mem max_connections max_files_per_process max_locks_per_transaction
    max_parallel_maintenance_workers max_parallel_workers max_parallel_workers_per_gather max_pred_locks_per_page
    max_pred_locks_per_relation max_pred_locks_per_transaction max_prepared_transactions max_wal_size max_worker_processes
    min_dynamic_shared_memory min_parallel_index_scan_size min_parallel_table_scan_size min_wal_size
    multixact_member_buffers multixact_offset_buffers notify_buffers old_snapshot_threshold parallel_leader_participation
    parallel_setup_cost parallel_tuple_cost pg_stat_statements.max pg_stat_statements.track
    pg_stat_statements.track_planning pg_stat_statements.track_utility plan_cache_mode random_page_cost
    recovery_prefetch recursive_worktable_factor seq_page_cost serializable_buffers shared_buffers shared_memory_type
    statement_timeout stats_fetch_consistency subtransaction_buffers superuser_reserved_connections
    synchronize_seqscans synchronous_commit temp_buffers temp_file_limit track_activities track_activity_query_size
    track_commit_timestamp track_cost_delay_timing track_counts track_functions track_io_timing track_wal_io_timing
    transaction_buffers vacuum_buffer_usage_limit vacuum_cost_delay vacuum_cost_limit vacuum_cost_page_dirty
    vacuum_cost_page_hit vacuum_cost_page_miss vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age
    vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age
    vacuum_multixact_freeze_table_age vacuum_truncate wal_buffers wal_compression wal_decode_buffer_size wal_init_zero
    wal_keep_size wal_level wal_log_hints wal_recycle wal_skip_threshold wal_sync_method wal_writer_delay
    wal_writer_flush_after work_mem
";

const MARIADB: &str = "
    aria_pagecache_age_threshold aria_pagecache_buffer_size aria_pagecache_division_limit aria_sort_buffer_size
    autocommit back_log big_tables binlog_cache_size binlog_checksum binlog_commit_wait_count binlog_commit_wait_usec
    binlog_format binlog_group_commit_sync_delay binlog_group_commit_sync_no_delay_count binlog_optimize_thread_scheduling
    binlog_order_commits binlog_row_image binlog_stmt_cache_size binlog_transaction_compression bulk_insert_buffer_size
    character_set_server collation_server concurrent_insert deadlock_search_depth_long deadlock_search_depth_short
    deadlock_timeout_long deadlock_timeout_short default_storage_engine eq_range_index_dive_limit expensive_subquery_limit
    flush flush_time group_concat_max_len histogram_size histogram_type host_cache_size
    innodb_adaptive_flushing innodb_adaptive_flushing_lwm innodb_adaptive_hash_index innodb_adaptive_hash_index_parts
    innodb_adaptive_hash_index_partitions innodb_adaptive_max_sleep_delay innodb_autoextend_increment
    innodb_autoinc_lock_mode innodb_buffer_pool_chunk_size
    innodb_buffer_pool_dump_at_shutdown innodb_buffer_pool_dump_pct innodb_buffer_pool_in_core_file
    innodb_buffer_pool_instances innodb_buffer_pool_load_at_startup innodb_buffer_pool_size innodb_buffer_pool_size_auto_min
    innodb_buffer_pool_size_max innodb_change_buffer_max_size innodb_change_buffering innodb_checksum_algorithm
    innodb_commit_concurrency innodb_compression_algorithm innodb_compression_level innodb_concurrency_tickets
    innodb_data_file_buffering innodb_data_file_write_through innodb_ddl_buffer_size innodb_ddl_threads
    innodb_deadlock_detect innodb_deadlock_report innodb_dedicated_server innodb_default_row_format innodb_doublewrite
    innodb_doublewrite_batch_size innodb_doublewrite_files innodb_doublewrite_pages innodb_extend_and_initialize
    innodb_fast_shutdown innodb_file_per_table innodb_fill_factor innodb_flush_log_at_timeout
    innodb_flush_log_at_trx_commit innodb_flush_method innodb_flush_neighbors innodb_flush_sync innodb_flushing_avg_loops
    innodb_idle_flush_pct innodb_immediate_scrub_data_uncompressed innodb_instant_alter_column_allowed innodb_io_capacity
    innodb_io_capacity_max innodb_lock_wait_timeout innodb_log_buffer_size innodb_log_checksums
    innodb_log_file_buffering innodb_log_file_mmap innodb_log_file_size innodb_log_files_in_group
    innodb_log_spin_cpu_abs_lwm innodb_log_spin_cpu_pct_hwm innodb_log_wait_for_flush_spin_hwm innodb_log_write_ahead_size
    innodb_log_writer_threads innodb_lru_flush_size innodb_lru_scan_depth innodb_max_dirty_pages_pct
    innodb_max_dirty_pages_pct_lwm innodb_max_purge_lag innodb_max_purge_lag_delay innodb_max_purge_lag_wait
    innodb_max_undo_log_size innodb_numa_interleave innodb_old_blocks_pct innodb_old_blocks_time innodb_open_files
    innodb_page_cleaners innodb_page_size innodb_parallel_read_threads innodb_prefix_index_cluster_optimization
    innodb_print_all_deadlocks innodb_purge_batch_size innodb_purge_rseg_truncate_frequency innodb_purge_threads
    innodb_random_read_ahead innodb_read_ahead_threshold innodb_read_io_threads innodb_redo_log_capacity
    innodb_replication_delay innodb_rollback_on_timeout innodb_rollback_segments innodb_snapshot_isolation
    innodb_sort_buffer_size innodb_spin_wait_delay innodb_spin_wait_pause_multiplier innodb_stats_auto_recalc
    innodb_stats_include_delete_marked innodb_stats_method innodb_stats_modified_counter innodb_stats_on_metadata
    innodb_stats_persistent innodb_stats_persistent_sample_pages innodb_stats_traditional
    innodb_stats_transient_sample_pages innodb_strict_mode innodb_sync_array_size
    innodb_sync_spin_loops innodb_table_locks innodb_thread_concurrency innodb_thread_sleep_delay
    innodb_undo_log_truncate innodb_undo_logs innodb_undo_tablespaces
    innodb_use_atomic_writes innodb_use_fdatasync innodb_use_native_aio innodb_write_io_threads
    interactive_timeout join_buffer_size join_buffer_space_limit join_cache_level key_buffer_size
    key_cache_age_threshold key_cache_block_size key_cache_division_limit key_cache_segments lock_wait_timeout
    low_priority_updates max_allowed_packet max_connections max_delayed_threads max_digest_length max_heap_table_size
    max_join_size max_length_for_sort_data max_prepared_stmt_count max_rowid_filter_size max_seeks_for_key
    max_sort_length max_tmp_tables max_user_connections metadata_locks_hash_instances min_examined_row_limit
    mrr_buffer_size myisam_sort_buffer_size net_buffer_length net_read_timeout net_write_timeout open_files_limit
    optimizer_adjust_secondary_key_costs optimizer_max_sel_arg_weight optimizer_prune_level optimizer_search_depth
    optimizer_selectivity_sampling_limit optimizer_switch optimizer_use_condition_selectivity
    performance_schema performance_schema_consumer_events_statements_current
    performance_schema_consumer_events_statements_history performance_schema_digests_size
    performance_schema_events_statements_history_size performance_schema_instrument
    performance_schema_max_digest_length performance_schema_max_prepared_statements_instances
    performance_schema_max_statement_classes preload_buffer_size progress_report_time query_alloc_block_size
    query_cache_limit query_cache_min_res_unit query_cache_size query_cache_strip_comments query_cache_type
    query_cache_wlock_invalidate query_prealloc_size range_alloc_block_size read_buffer_size read_rnd_buffer_size
    rowid_merge_buff_size skip_log_bin sort_buffer_size stored_program_cache sync_binlog sync_frm
    table_definition_cache table_open_cache table_open_cache_instances tcp_nodelay temptable_max_mmap temptable_max_ram
    temptable_use_mmap thread_cache_size thread_handling thread_pool_dedicated_listener thread_pool_exact_stats
    thread_pool_idle_timeout thread_pool_max_threads thread_pool_min_threads thread_pool_oversubscribe
    thread_pool_prio_kickup_timer thread_pool_priority thread_pool_size thread_pool_stall_limit thread_stack
    tmp_disk_table_size tmp_memory_table_size tmp_table_size transaction_alloc_block_size transaction_isolation
    transaction_prealloc_size transaction_read_only tx_isolation wait_timeout
";

/// All that SQLite takes here.
pub const SQLITE: &[&str] = &[
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "wal_autocheckpoint",
    "journal_size_limit",
    "temp_store",
];

/// The same in words.
pub fn sqlite() -> String {
    format!("SQLite's settings here are {}", SQLITE.join(", "))
}

/// Why a study may not give a database this setting; none when it may.
pub fn refusal(spec: &DatabaseSpec, name: &str, value: &str) -> Option<String> {
    match (spec.engine, &spec.at) {
        (Engine::Sqlite, _) => (!SQLITE.contains(&name)).then(|| format!("{}, got `{name}`", sqlite())),
        (engine, At::Local) if !listed(engine, name) => Some(format!(
            "a setting of {} that moves its performance, by its full name, got `{name}`; {OPTION} lets any through",
            engine.word()
        )),
        (_, At::Local) if value.contains(char::is_control) => {
            Some(format!("a value of `{name}` that is one line, got {value:?}"))
        }
        _ => None,
    }
}

fn listed(engine: Engine, name: &str) -> bool {
    let name = name.trim().to_lowercase().replace('-', "_");
    let list = match engine {
        Engine::Postgres => POSTGRES,
        Engine::Mariadb => MARIADB,
        Engine::Sqlite | Engine::Null => return true,
    };
    list.split_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_of_performance_settings_are_listed() {
        for name in ["shared_buffers", "Shared-Buffers", " fsync", "pg_stat_statements.track"] {
            assert!(listed(Engine::Postgres, name), "{name}");
        }
        for name in ["innodb_buffer_pool_size", "innodb-flush-method", "sync_binlog"] {
            assert!(listed(Engine::Mariadb, name), "{name}");
        }
        for name in
            ["bind-addres", "skip-grant-table", "innodb_buffer_pool_siz", "loose-sync_binlog", "plugin_load", ""]
        {
            assert!(!listed(Engine::Mariadb, name), "{name}");
        }
        assert!(!listed(Engine::Postgres, "shared_buffers\nport"));
    }

    /// What the manuals of both servers say runs a command, loads a library, names a file or a place, or opens the door.
    #[test]
    fn nothing_that_could_do_more_than_slow_down_the_server_is_listed() {
        let words = [
            "command",
            "librar",
            "preload_l",
            "path",
            "dir",
            "file_name",
            "filename",
            "plugin",
            "listen",
            "bind",
            "port",
            "socket",
            "ssl",
            "tls",
            "auth",
            "hba",
            "ident",
            "grant",
            "user",
            "init",
            "include",
            "provider",
            "tablespaces",
            "primary",
            "restore",
            "archive",
            "log_output",
            "general_log",
            "slow",
            "proxy",
            "infile",
            "secure",
            "key_file",
            "location",
            "data_home",
            "log_group",
            "roles",
            "host",
            "event_scheduler",
            "unix",
            "krb",
            "gss",
            "role",
        ];
        // Names that hold such a word and are none of these.
        let harmless = [
            "binlog_group_commit_sync_delay",
            "binlog_group_commit_sync_no_delay_count",
            "host_cache_size",
            "innodb_deadlock_report",
            "innodb_extend_and_initialize",
            "innodb_max_dirty_pages_pct",
            "innodb_max_dirty_pages_pct_lwm",
            "innodb_stats_include_delete_marked",
            "innodb_undo_tablespaces",
            "max_user_connections",
            "progress_report_time",
            "superuser_reserved_connections",
            "table_definition_cache",
            "thread_pool_dedicated_listener",
            "vacuum_cost_page_dirty",
            "wal_init_zero",
        ];
        for name in POSTGRES.split_whitespace().chain(MARIADB.split_whitespace()) {
            let found = words.iter().find(|word| name.contains(**word) && !harmless.contains(&name));
            assert_eq!(found, None, "{name}");
        }
    }
}
