SELECT pid::text || ' ' || coalesce(backend_start::text, ''), coalesce(backend_type, 'client backend') = 'client backend'
    AND datname = current_database(), usename::text, application_name, state, wait_event_type, wait_event,
    backend_xid IS NOT NULL, extract(epoch FROM clock_timestamp() - xact_start)::float8,
    extract(epoch FROM clock_timestamp() - state_change)::float8, query = '<insufficient privilege>'
    FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') IN ('client backend', 'walwriter')
