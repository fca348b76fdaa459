\set draw random(1, 10)
\set other random(0, 5)
\set id random(1, 30000)
\if :draw > 9
SELECT length(pad) FROM t:other WHERE id = :id;
\else
SELECT length(pad) FROM t:hot WHERE id = :id;
\endif
