
\set a random(1, 100 * :scale) + hash(:client_id) % 7
\set b case when :a > 5 and not :a is null then -1.5e3 else least(:x, ~2, 3) end
BEGIN; -- a comment; :a
update t set n = n + :a where name = 'it''s :b' and k = $$;$$ /* ; */;
select (1; 2), E'\';', :a::int \; select :b as c \aset p_
\if :a < 50
\sleep 10 us
\elif :b = 3
\startpipeline
select :a;
\endpipeline
\else
select count(*) as n from t \gset
\endif
END;
