SELECT current_setting('server_version'), current_database()::text, pg_is_in_recovery(), current_setting('track_counts'),
    pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), coalesce(current_setting('track_wal_io_timing', true), 'off'),
    coalesce(current_setting('pg_stat_statements.track_planning', true), 'off'),
    (SELECT count(*) FROM pg_class WHERE relkind = 'S' AND oid >= 16384), quote_ident(current_user), pg_backend_pid(),
    current_setting('synchronous_commit'), pg_has_role(current_user, 'pg_read_server_files', 'USAGE')
