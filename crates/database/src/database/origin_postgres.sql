WITH s AS (SELECT oid, nspowner FROM pg_namespace WHERE nspname = '{schema}'),
    r AS (SELECT c.oid, c.relname, c.relkind, c.relowner FROM pg_class c JOIN s ON s.oid = c.relnamespace),
    trusted AS (SELECT o.oid FROM pg_roles o JOIN pg_roles u ON u.rolname = current_user
    WHERE pg_has_role(o.oid, u.oid, 'MEMBER')
    OR (o.rolcreaterole AND NOT u.rolsuper AND current_setting('server_version_num')::int4 < 160000)),
    theirs AS (SELECT 'the schema' AS what, nspowner AS owner FROM s
    UNION ALL SELECT 'the relation ' || relname, relowner FROM r WHERE relkind NOT IN ('i', 'I', 't')
    UNION ALL SELECT 'the function ' || proname, proowner FROM pg_proc JOIN s ON s.oid = pronamespace
    UNION ALL SELECT 'the operator ' || oprname, oprowner FROM pg_operator JOIN s ON s.oid = oprnamespace
    UNION ALL SELECT 'the type ' || typname, typowner FROM pg_type JOIN s ON s.oid = typnamespace),
    parts AS (SELECT 'pg_class'::regclass::oid AS classid, oid AS objid FROM r
    UNION SELECT d.classid, d.objid FROM pg_depend d JOIN r ON r.oid = d.refobjid
    WHERE d.refclassid = 'pg_class'::regclass AND d.classid IN ('pg_attrdef'::regclass, 'pg_constraint'::regclass))
    SELECT what || ', which belongs to ' || pg_get_userbyid(owner) || ',', CASE what WHEN 'the schema' THEN 2 ELSE 1 END FROM theirs
    WHERE owner NOT IN (SELECT oid FROM trusted)
    UNION ALL SELECT CASE relkind WHEN 'v' THEN 'the view ' WHEN 'm' THEN 'the materialized view ' ELSE 'the special table ' END
    || relname, 0 FROM r WHERE relkind NOT IN ('r', 'p', 'i', 'I', 'S', 't')
    UNION ALL SELECT 'the trigger ' || tgname || ' on ' || relname, 0 FROM pg_trigger JOIN r ON r.oid = tgrelid WHERE NOT tgisinternal
    UNION ALL SELECT 'the rule ' || rulename || ' on ' || relname, 0 FROM pg_rewrite JOIN r ON r.oid = ev_class WHERE relkind IN ('r', 'p')
    UNION ALL SELECT 'the policy ' || polname || ' on ' || relname, 0 FROM pg_policy JOIN r ON r.oid = polrelid
    UNION ALL SELECT 'the inheritance of ' || relname, 0 FROM pg_inherits JOIN r ON r.oid IN (inhparent, inhrelid)
    UNION ALL SELECT 'the reference ' || conname || ' to ' || relname || ' from another schema', 0 FROM pg_constraint
    JOIN r ON r.oid = confrelid WHERE contype = 'f' AND conrelid NOT IN (SELECT oid FROM r)
    UNION ALL SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ', which needs '
    || pg_describe_object(d.refclassid, d.refobjid, 0) || ',', 0 FROM parts JOIN pg_depend d USING (classid, objid)
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_type'::regclass)
