SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('autovacuum',
    'checkpoint_timeout', 'commit_delay', 'data_checksums', 'default_transaction_isolation',
    'effective_cache_size', 'effective_io_concurrency', 'fsync', 'full_page_writes', 'huge_pages', 'io_method',
    'jit', 'max_connections', 'max_wal_size', 'pg_stat_statements.track_planning', 'random_page_cost',
    'shared_buffers', 'shared_preload_libraries', 'ssl', 'synchronous_commit', 'track_io_timing', 'wal_buffers',
    'wal_compression', 'wal_level', 'wal_sync_method', 'work_mem') ORDER BY name
