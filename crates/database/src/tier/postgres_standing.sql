SELECT system_identifier::text, current_database()::text, current_setting('track_io_timing'), s.spcname::text, s.oid::int8,
    pg_size_bytes(current_setting('shared_buffers')), pg_is_in_recovery(),
    coalesce(current_setting('track_wal_io_timing', true), 'unknown')
    FROM pg_control_system(), pg_database d JOIN pg_tablespace s ON s.oid = d.dattablespace
    WHERE d.datname = current_database()
