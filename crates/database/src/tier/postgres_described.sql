SELECT c.oid::int8, c.relkind::text, format('%I.%I', n.nspname, c.relname), c.relpages::float8,
    coalesce(c.reltuples / nullif(c.relpages, 0), 1)::float8, coalesce(i.indrelid, o.oid)::int8, s.spcname::text,
    c.relpersistence = 'p', coalesce(i.indisexclusion, false) OR current_setting('server_version_num')::int < 140000
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_database d ON d.datname = current_database()
    JOIN pg_tablespace s ON s.oid = CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END
    LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class o ON o.reltoastrelid = c.oid AND c.relkind = 't'
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'i', 'm', 't') AND c.relpersistence <> 't'
    AND n.nspname <> 'prony_tier' AND coalesce(i.indisvalid, true)
