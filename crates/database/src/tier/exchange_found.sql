SELECT t.table_schema, t.table_name, coalesce(t.data_length + t.index_length, 0), CASE
    WHEN t.table_schema IN ('mysql', 'sys', 'performance_schema', 'information_schema') THEN 'it is the server''s own'
    WHEN t.table_type <> 'BASE TABLE' THEN concat('it is no plain table (', lower(t.table_type), ')')
    WHEN t.engine <> 'InnoDB' THEN concat('its engine is ', t.engine, ', and only tables of InnoDB are moved')
    WHEN t.create_options LIKE '%partitioned%' THEN 'it is partitioned'
    WHEN char_length(t.table_name) > 54 THEN 'its name has more than 54 letters, so that no table beside it can be called after it'
    ELSE coalesce((SELECT concat('its trigger ', min(trigger_name), ' would not follow it') FROM information_schema.triggers
    WHERE event_object_schema = t.table_schema AND event_object_table = t.table_name HAVING count(*) > 0),
    (SELECT concat('the foreign key ', min(constraint_name), ' would not follow it') FROM information_schema.referential_constraints
    WHERE (constraint_schema = t.table_schema AND table_name = t.table_name)
    OR (unique_constraint_schema = t.table_schema AND referenced_table_name = t.table_name) HAVING count(*) > 0),
    (SELECT concat('its full-text index ', min(index_name), ' lies in tables of its own') FROM information_schema.statistics
    WHERE table_schema = t.table_schema AND table_name = t.table_name AND index_type = 'FULLTEXT' HAVING count(*) > 0), '') END
    FROM information_schema.tables t
