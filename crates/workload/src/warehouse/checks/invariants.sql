-- What must hold for all cubes of a warehouse together.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- What stands in braces is made for all cubes by a function of that name.

-- @ deltas
-- of marker, delta
-- each cube counts the deltas that were loaded into it, and their orders, and knows the last one
SELECT x.cube_id, SUM(x.deltas) AS deltas, SUM(x.orders) AS orders, MAX(x.last) AS last, MAX(x.loaded) AS loaded
    FROM (SELECT cube_id, deltas, facts AS orders, delta_id AS last, 0 AS loaded FROM marker UNION ALL
    SELECT cube_id, -1, -orders, 0, id FROM delta WHERE applied = 1) x GROUP BY x.cube_id
    HAVING SUM(x.deltas) <> 0 OR SUM(x.orders) <> 0 OR MAX(x.last) <> MAX(x.loaded) LIMIT 10;

-- @ changes
-- of delta, change_log
-- each delta that was loaded logged each of its orders once, and no other logged any
SELECT x.delta_id, SUM(x.stated) AS stated, SUM(x.logged) AS logged FROM (SELECT id AS delta_id,
    orders * applied AS stated, 0 AS logged FROM delta UNION ALL SELECT delta_id, 0, 1 FROM change_log) x
    GROUP BY x.delta_id HAVING SUM(x.stated) <> SUM(x.logged) LIMIT 10;

-- @ logged changes
-- of delta, change_log, source_order
-- what a delta logged is of its cube, its day and its orders, which are those of its stream, at the price of the source
{logged} LIMIT 10;

-- @ active orders
-- of source_order, active_order, delta, change_log
-- the active state of each order is that of the source, by the last delta that changed it, unless one is to be loaded yet
SELECT s.id, s.quantity, s.changed, a.quantity AS active, a.gross_cents, a.delta_id, g.last FROM source_order s
    LEFT JOIN active_order a ON a.id = s.id LEFT JOIN (SELECT order_id, MAX(delta_id) AS last FROM change_log
    GROUP BY order_id) g ON g.order_id = s.id WHERE a.id IS NULL OR a.gross_cents <> a.quantity * s.price_cents
    OR a.delta_id <> COALESCE(g.last, 0) OR ((s.quantity <> a.quantity OR s.changed <> a.delta_id) AND NOT EXISTS
    (SELECT 1 FROM delta d WHERE d.id = s.changed AND d.applied = 0 AND d.first_order <= s.id
    AND s.id < d.first_order + d.orders)) LIMIT 10;

-- @ facts and deltas
-- of change_log
-- the facts of each delta are those that it logged, in count and in sums, in its cube and on its day
{facts_and_deltas} LIMIT 10;

-- @ look-ups
-- of change_log, source_order, delta
-- each loaded fact is what its delta logged of its order, with what the source says of that order
{look_ups} LIMIT 10;

-- @ measures
-- of product
-- amounts, weight and volume of each fact are those of so many of its product, and its dates follow each other
{measures} LIMIT 10;

-- @ keys
-- of
-- each fact leads to members of all dimensions
{keys} LIMIT 10;
