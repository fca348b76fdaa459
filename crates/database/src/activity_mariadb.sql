SELECT info, event, COUNT(*), CAST(SUBSTRING_INDEX(GROUP_CONCAT(id ORDER BY age DESC), ',', 1) AS SIGNED), MAX(age)
    FROM (SELECT p.info, p.id, p.time_ms / 1000 AS age, CASE WHEN t.trx_state = 'LOCK WAIT' THEN 'Lock:row'
    WHEN p.state LIKE 'Waiting for%lock%' THEN 'Lock:table' WHEN p.state = 'Commit' OR p.state LIKE '%commit%' THEN 'Log:commit'
    ELSE 'CPU' END AS event FROM information_schema.processlist p LEFT JOIN information_schema.innodb_trx t
    ON t.trx_mysql_thread_id = p.id WHERE p.command IN ('Query', 'Execute') AND p.info IS NOT NULL AND p.id <> CONNECTION_ID()) one
    GROUP BY 1, 2
