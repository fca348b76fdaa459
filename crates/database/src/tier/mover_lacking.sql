SELECT CASE WHEN t.oid IS NULL AND {0} <> '' THEN '{GONE}' WHEN NOT has_tablespace_privilege(t.oid, 'CREATE') AND t.oid <> d.dattablespace
    THEN format('it needs CREATE on the tablespace %I: GRANT CREATE ON TABLESPACE %1$I TO %I', t.spcname, current_user)
    WHEN to_regnamespace('prony_tier') IS NULL AND NOT has_database_privilege(d.oid, 'CREATE')
    THEN format('it needs CREATE on the database, for the journal of moves: GRANT CREATE ON DATABASE %I TO %I', d.datname,
    current_user) ELSE '' END FROM pg_database d LEFT JOIN pg_tablespace t ON t.oid::text = {0}
    WHERE d.datname = current_database()
