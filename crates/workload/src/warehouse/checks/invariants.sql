-- What must hold for all cubes of a warehouse together.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- What stands in square brackets is said of every cube, one after the other. Numbers of the scale stand in braces.
-- The number of a delta's stream follows from its orders, its day from its own number. Rests are taken off before a division, as loads
-- do it; the fill takes them off its freight as a whole.

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
SELECT g.delta_id, g.order_id, g.cube_id, g.day_id FROM change_log g LEFT JOIN delta d ON d.id = g.delta_id
    LEFT JOIN source_order s ON s.id = g.order_id WHERE d.id IS NULL OR s.id IS NULL OR g.cube_id <> d.cube_id
    OR g.day_id <> d.day_id OR g.order_id < d.first_order OR g.order_id >= d.first_order + d.orders
    OR g.gross_cents <> g.quantity * s.price_cents UNION ALL SELECT id, first_order, cube_id, day_id FROM delta
    WHERE day_id <> {days} - id % {recent_days} OR NOT applied IN (0, 1)
    OR first_order <= (stream * {cubes} + cube_id - 1) * {share}
    OR first_order + orders - 1 > (stream * {cubes} + cube_id) * {share} LIMIT 10;

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
SELECT x.cube_id, x.delta_id, x.day_id, SUM(x.missing) AS missing, SUM(x.quantity) AS quantity,
    SUM(x.gross_cents) AS gross_cents FROM (SELECT cube_id, delta_id, day_id, 1 AS missing, quantity, gross_cents
    FROM change_log UNION ALL
    [SELECT {id}, delta_id, day_id, -1, -quantity, -gross_cents FROM {cube} WHERE delta_id <> 0]) x
    GROUP BY x.cube_id, x.delta_id, x.day_id
    HAVING SUM(x.missing) <> 0 OR SUM(x.quantity) <> 0 OR SUM(x.gross_cents) <> 0 LIMIT 10;

-- @ look-ups
-- of change_log, source_order, delta
-- each loaded fact is what its delta logged of its order, with what the source says of that order
SELECT x.* FROM ([SELECT {id} AS cube_id, f.id, f.delta_id, f.order_id FROM {cube} f LEFT JOIN delta d ON d.id = f.delta_id
    LEFT JOIN change_log g ON g.delta_id = f.delta_id AND g.order_id = f.order_id
    LEFT JOIN source_order s ON s.id = f.order_id WHERE f.delta_id <> 0 AND (d.id IS NULL OR g.order_id IS NULL
    OR s.id IS NULL OR f.id <> {first_loaded} + d.id * {numbers_a_delta} + f.order_id - d.first_order
    OR f.day_id <> g.day_id OR f.quantity <> g.quantity OR f.gross_cents <> g.gross_cents
    OR f.customer_id <> s.customer_id OR f.product_id <> s.product_id OR f.site_id <> s.site_id
    OR f.channel_id <> s.channel_id OR f.document <> s.document OR f.currency <> s.currency OR f.unit <> s.unit)]) x LIMIT 10;

-- @ measures
-- of product
-- amounts, weight and volume of each fact are those of so many of its product, and its dates follow each other
SELECT x.* FROM ([SELECT {id} AS cube_id, f.id, f.quantity, f.gross_cents, f.discount_cents, f.net_cents, f.tax_cents, f.freight_cents,
    f.cost_cents, f.weight_g, f.volume_ml, f.day_id, f.due_day_id FROM {cube} f
    LEFT JOIN product p ON p.id = f.product_id WHERE p.id IS NULL OR f.gross_cents <> f.quantity * p.price_cents
    OR f.net_cents <> f.gross_cents - f.discount_cents OR f.tax_cents * 100 <> f.net_cents * 19 - (f.net_cents * 19) % 100
    OR f.cost_cents <> f.quantity * p.cost_cents OR f.weight_g <> f.quantity * p.weight_g
    OR f.volume_ml <> f.quantity * p.volume_ml OR f.currency <> 'EUR' OR f.unit <> 'PC'
    OR f.freight_cents * 10 <> CASE WHEN f.delta_id = 0 THEN f.weight_g - f.weight_g % 10
    ELSE f.quantity * (p.weight_g - p.weight_g % 10) END OR (f.delta_id = 0 AND (f.order_id <> 0
    OR f.item <> 1 + (f.id - 1) % 7 * 10 OR f.discount_cents < 0 OR f.discount_cents * 100 > f.gross_cents * 15
    OR f.due_day_id > f.day_id + 14 OR (f.due_day_id < f.day_id + 3 AND f.due_day_id <> {days})))
    OR (f.delta_id <> 0 AND (f.discount_cents <> 0 OR f.item <> 10 OR f.due_day_id <> f.day_id))]) x LIMIT 10;

-- @ keys
-- of
-- each fact leads to members of all dimensions
SELECT x.* FROM ([SELECT {id} AS cube_id, id, day_id, customer_id, product_id, site_id, channel_id FROM {cube}
    WHERE day_id < 1 OR day_id > {days} OR customer_id < 1 OR customer_id > {customers} OR product_id < 1
    OR product_id > {products} OR site_id < 1 OR site_id > {sites} OR channel_id < 1 OR channel_id > {channels}]) x LIMIT 10;
