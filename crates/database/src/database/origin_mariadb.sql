SELECT concat('the ', lower(table_type), ' ', table_name) FROM information_schema.tables
    WHERE table_schema = '{schema}' AND table_type <> 'BASE TABLE'
    UNION ALL SELECT concat('the ', engine, ' table ', table_name) FROM information_schema.tables
    WHERE table_schema = '{schema}' AND table_type = 'BASE TABLE' AND engine <> 'InnoDB'
    UNION ALL SELECT concat('the trigger ', trigger_name, ' on ', event_object_table) FROM information_schema.triggers
    WHERE trigger_schema = '{schema}'
    UNION ALL SELECT concat('the generated column ', table_name, '.', column_name) FROM information_schema.columns
    WHERE table_schema = '{schema}' AND coalesce(generation_expression, '') <> ''
