SELECT format('an old transaction keeps the index from being rebuilt (process %s of the server, begun %s ago)', a.pid,
    CASE WHEN clock_timestamp() - a.xact_start < '1 min' THEN ceil(extract(epoch FROM clock_timestamp() - a.xact_start)) || ' s'
    ELSE date_trunc('second', clock_timestamp() - a.xact_start)::text END) FROM pg_stat_activity a WHERE a.datname = current_database()
    AND a.pid <> pg_backend_pid() AND a.backend_xmin IS NOT NULL AND NOT EXISTS (SELECT FROM pg_locks l
    WHERE l.relation = {} AND l.granted AND l.pid <> pg_backend_pid() AND l.mode <> 'AccessShareLock')
    ORDER BY a.xact_start LIMIT 1
