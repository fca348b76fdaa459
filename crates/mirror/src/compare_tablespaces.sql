SELECT format('%I.%I', n.nspname, c.relname), s.spcname::text, pg_tablespace_location(s.oid) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_database d ON d.datname = current_database()
    JOIN pg_tablespace s ON s.oid = CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END
    WHERE c.relkind IN ('r', 'i', 'm') AND pg_tablespace_location(s.oid) LIKE '/%'
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%' ORDER BY 1
