SET @k = FLOOR(1 + RAND() * 100000);
BEGIN;
SELECT v FROM bench.a WHERE id = @k;
UPDATE bench.a SET v = v + 1 WHERE id = @k;
COMMIT;
