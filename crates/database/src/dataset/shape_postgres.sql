-- What a data set of PostgreSQL is made of, in words.

SELECT 'logged table ' || t.relname FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace
    WHERE t.relkind IN ('r', 'p') AND t.relpersistence = 'p' AND s.nspname = current_schema();

SELECT 'column ' || table_name || '.' || column_name || ' (' || CASE WHEN data_type = 'bigint' THEN 'int'
    WHEN data_type NOT IN ('character varying', 'text') THEN data_type WHEN collation_name = 'C' THEN 'text'
    ELSE 'text collate ' || coalesce(collation_name, 'default') END ||
    CASE is_nullable WHEN 'NO' THEN ' not null)' ELSE ')' END
    FROM information_schema.columns WHERE table_schema = current_schema();

SELECT CASE WHEN i.indisprimary THEN 'key ' WHEN i.indisunique THEN 'unique index ' ELSE 'index ' END
    || t.relname || '(' || (SELECT string_agg(coalesce(a.attname, pg_get_indexdef(x.oid, k.n::int, true))
    || CASE WHEN i.indcollation[(k.n - 1)::int] NOT IN (0, a.attcollation)
    THEN ' collate ' || (SELECT c.collname FROM pg_collation c WHERE c.oid = i.indcollation[(k.n - 1)::int]) ELSE '' END
    || CASE WHEN o.opcdefault THEN '' ELSE ' ' || o.opcname END
    || CASE i.indoption[(k.n - 1)::int] WHEN 0 THEN '' ELSE ' in another order' END, ',' ORDER BY k.n)
    FROM unnest(i.indkey) WITH ORDINALITY AS k(number, n)
    JOIN pg_opclass o ON o.oid = i.indclass[(k.n - 1)::int]
    LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number WHERE k.n <= i.indnkeyatts) || ')'
    || CASE m.amname WHEN 'btree' THEN '' ELSE ' using ' || m.amname END
    || CASE WHEN i.indpred IS NULL THEN '' ELSE ' where ' || pg_get_expr(i.indpred, t.oid) END
    || CASE WHEN i.indisvalid AND i.indisready THEN '' ELSE ' not valid' END
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam WHERE s.nspname = current_schema();

SELECT 'reference ' || t.relname || '(' || (SELECT string_agg(a.attname, ',' ORDER BY k.n)
    FROM unnest(c.conkey) WITH ORDINALITY AS k(number, n)
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number) || ') to ' || r.relname
    || CASE c.confdeltype WHEN 'a' THEN '' WHEN 'c' THEN ' on delete cascade' WHEN 'n' THEN ' on delete set null'
    WHEN 'd' THEN ' on delete set default' ELSE ' on delete restrict' END
    || CASE c.confupdtype WHEN 'a' THEN '' ELSE ' with an action on update' END
    || CASE WHEN c.condeferrable THEN ' deferrable' ELSE '' END
    || CASE WHEN c.convalidated THEN '' ELSE ' not valid' END
    || CASE WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgconstraint = c.oid AND g.tgenabled IN ('D', 'R'))
    THEN ' switched off' ELSE '' END FROM pg_constraint c
    JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid
    JOIN pg_namespace s ON s.oid = t.relnamespace WHERE c.contype = 'f' AND s.nspname = current_schema();

SELECT 'check ' || t.relname || ' ' || substr(pg_get_constraintdef(c.oid), 7) FROM pg_constraint c
    JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace s ON s.oid = t.relnamespace
    WHERE c.contype = 'c' AND s.nspname = current_schema();
