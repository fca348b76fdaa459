SELECT query, coalesce(wait_event_type || ':' || wait_event, 'CPU'), count(*)::float8,
    (array_agg(pid ORDER BY query_start))[1]::int8, max(extract(epoch FROM clock_timestamp() - query_start))::float8
    FROM pg_stat_activity WHERE state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()
    AND application_name = current_setting('application_name') GROUP BY 1, 2
