SHOW GLOBAL VARIABLES WHERE Variable_name IN ('binlog_format',
    'innodb_adaptive_hash_index', 'innodb_buffer_pool_size', 'innodb_doublewrite',
    'innodb_flush_log_at_trx_commit', 'innodb_flush_method', 'innodb_io_capacity', 'innodb_io_capacity_max',
    'innodb_log_file_size', 'innodb_page_size', 'innodb_read_io_threads', 'innodb_redo_log_capacity',
    'innodb_snapshot_isolation', 'innodb_write_io_threads', 'log_bin', 'max_connections', 'performance_schema',
    'query_cache_type', 'sync_binlog', 'thread_handling', 'transaction_isolation', 'tx_isolation')
