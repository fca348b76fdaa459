SELECT c.relkind::text, coalesce(i.indrelid, c.oid)::int8, CASE WHEN i.indexrelid IS NULL THEN '' ELSE c.relname::text END,
    format('%I.%I', n.nspname, c.relname), (CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END)::int8,
    (c.relpages + coalesce(t.relpages, 0))::float8 * current_setting('block_size')::float8,
    CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN '' ELSE format('only its owner may move it: name %I as the user, or GRANT %1$I TO %I', pg_get_userbyid(c.relowner), current_user) END, coalesce(i.indisexclusion, false), coalesce(i.indexrelid::text, ''),
    CASE WHEN t.relpages = 0 THEN t.oid ELSE 0 END::int8,
    CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN '' ELSE format('the user lacks USAGE on the schema %I: GRANT USAGE ON SCHEMA %1$I TO %I', n.nspname, current_user) END,
    c.relpersistence = 'p'
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_database d ON d.datname = current_database()
    LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
    WHERE {which} AND c.relkind IN ('r', 'i', 'm') AND c.oid >= 16384
