-- What a data set of MariaDB is made of, in words. What stands in a comment for MariaDB alone MySQL calls otherwise.

SELECT CONCAT(engine, ' table ', table_name) FROM information_schema.tables WHERE table_schema = DATABASE();

SELECT CONCAT('column ', table_name, '.', column_name, ' (', CASE WHEN data_type = 'bigint' THEN 'int'
    WHEN data_type IN ('varchar', 'text', 'mediumtext', 'longtext') THEN 'text' ELSE data_type END,
    CASE WHEN coalesce(collation_name, 'utf8mb4_bin') = 'utf8mb4_bin' THEN '' ELSE CONCAT(' collate ', collation_name) END,
    CASE is_nullable WHEN 'NO' THEN ' not null)' ELSE ')' END)
    FROM information_schema.columns WHERE table_schema = DATABASE();

SELECT CONCAT(CASE WHEN index_name = 'PRIMARY' THEN 'key ' WHEN MIN(non_unique) = 0 THEN 'unique index ' ELSE 'index ' END,
    table_name, '(', GROUP_CONCAT(CONCAT(column_name, CASE WHEN sub_part IS NULL THEN '' ELSE CONCAT('(', sub_part, ')') END,
    CASE collation WHEN 'D' THEN ' desc' ELSE '' END) ORDER BY seq_in_index), ')',
    CASE MIN(index_type) WHEN 'BTREE' THEN '' ELSE CONCAT(' using ', LOWER(MIN(index_type))) END
    /*M! , CASE MAX(ignored) WHEN 'YES' THEN ' ignored' ELSE '' END */)
    FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name;

SELECT CONCAT('reference ', r.table_name, '(', GROUP_CONCAT(k.column_name ORDER BY k.ordinal_position), ') to ',
    r.referenced_table_name, CASE WHEN r.delete_rule IN ('RESTRICT', 'NO ACTION') THEN ''
    ELSE CONCAT(' on delete ', LOWER(r.delete_rule)) END, CASE WHEN r.update_rule IN ('RESTRICT', 'NO ACTION') THEN ''
    ELSE CONCAT(' on update ', LOWER(r.update_rule)) END) FROM information_schema.referential_constraints r
    JOIN information_schema.key_column_usage k ON k.constraint_schema = r.constraint_schema
    AND k.table_name = r.table_name AND k.constraint_name = r.constraint_name
    WHERE r.constraint_schema = DATABASE()
    GROUP BY r.table_name, r.constraint_name, r.referenced_table_name, r.delete_rule, r.update_rule;

SELECT CONCAT('check ', coalesce(/*M! c.table_name, */ t.table_name), ' (', c.check_clause, ')')
    FROM information_schema.check_constraints c LEFT JOIN information_schema.table_constraints t
    ON t.constraint_schema = c.constraint_schema AND t.constraint_name = c.constraint_name
    AND t.constraint_type = 'CHECK' WHERE c.constraint_schema = DATABASE();
