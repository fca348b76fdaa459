SELECT format('%I.%I', n.nspname, c.relname), c.relname::text, c.oid::bigint, (c.relreplident = 'i' OR c.relreplident = 'd'
    AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary))::int::bigint,
    (c.relreplident = 'f')::int::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'
    AND c.relpersistence = 'p' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1
