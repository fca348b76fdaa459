SELECT 'the whole server', setting FROM pg_settings WHERE name = 'synchronous_commit' UNION ALL
    SELECT coalesce(nullif(concat_ws(' in ', CASE WHEN setrole <> 0 THEN 'role ' || setrole::regrole::text END,
    'database ' || d.datname), ''), 'all roles'), split_part(c, '=', 2) FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase, unnest(setconfig) c
    WHERE c LIKE 'synchronous_commit=%' ORDER BY 1
