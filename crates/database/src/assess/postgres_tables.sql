SELECT format('%I.%I', s.schemaname, s.relname), s.seq_tup_read + coalesce(s.idx_tup_fetch, 0), s.n_tup_ins,
    s.n_tup_upd, s.n_tup_del, s.n_live_tup, c.relfilenode::int8,
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND (i.indisprimary OR i.indisreplident)), c.relpersistence::text
    FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid WHERE s.schemaname <> 'prony_tier'
