SELECT c.oid::int8, c.relkind::text, pg_stat_get_blocks_fetched(c.oid), pg_stat_get_blocks_hit(c.oid),
    pg_stat_get_tuples_returned(c.oid), pg_stat_get_tuples_fetched(c.oid)
    FROM pg_class c WHERE c.oid >= 16384 AND c.relkind IN ('r', 'i', 'm', 't')
    AND pg_stat_get_blocks_fetched(c.oid) > 0
