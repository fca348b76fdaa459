SELECT format('%I.%I', n.nspname, c.relname), (c.relpersistence = 'p')::text FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('information_schema', 'prony_pair') AND n.nspname NOT LIKE 'pg\_%' ORDER BY 1
