-- What must hold for the wholesaler's data, as SQL that every engine understands unchanged. Every counter is held against the rows that
-- it counts, and what was written under a lock against what was only added, so that a lost update is seen wherever it happens.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- `{first}` is the first order of a run.

-- @ order numbers
-- of district, customer_order
-- the orders of each district are numbered from 1 without a gap, and the next number is the one behind the last
SELECT d.id, d.next_number, o.counted, o.highest FROM district d LEFT JOIN (SELECT district_id, COUNT(DISTINCT number)
    AS counted, COUNT(*) AS rows_there, MIN(number) AS lowest, MAX(number) AS highest FROM customer_order GROUP BY district_id) o
    ON o.district_id = d.id WHERE o.district_id IS NULL OR d.next_number <> o.highest + 1 OR o.counted <> o.highest
    OR o.rows_there <> o.counted OR o.lowest <> 1 LIMIT 10;

-- @ order lines
-- of customer_order, order_line
-- each order has as many lines as it says, numbered from 1, which with its tax add up to its total
SELECT x.id, SUM(x.stated) AS stated, SUM(x.summed) AS summed, SUM(x.said) AS said, SUM(x.counted) AS counted FROM
    (SELECT id, total_cents - tax_cents AS stated, 0 AS summed, line_count AS said, 0 AS counted, 1 AS line FROM customer_order
    UNION ALL SELECT order_id, 0, amount_cents, 0, 1, line FROM order_line) x GROUP BY x.id
    HAVING SUM(x.stated) <> SUM(x.summed) OR SUM(x.said) <> SUM(x.counted) OR MIN(x.line) <> 1 OR MAX(x.line) <> SUM(x.said) LIMIT 10;

-- @ prices
-- of customer_order, order_line, customer, price, depot, district
-- each line costs what its customer's group pays for the article, and each order is taxed as its district and depot are
SELECT o.id, l.line, l.amount_cents, p.price_cents FROM order_line l LEFT JOIN customer_order o ON o.id = l.order_id
    LEFT JOIN customer c ON c.id = o.customer_id LEFT JOIN price p ON p.price_group = c.price_group AND p.article_id = l.article_id
    WHERE p.price_cents IS NULL OR l.amount_cents <> l.quantity * p.price_cents UNION ALL
    SELECT o.id, 0, o.tax_cents, 0 FROM customer_order o LEFT JOIN district d ON d.id = o.district_id LEFT JOIN depot e
    ON e.id = d.depot_id WHERE e.id IS NULL OR (o.total_cents - o.tax_cents) * (d.tax_bp + e.tax_bp) - o.tax_cents * 10000 < 0
    OR (o.total_cents - o.tax_cents) * (d.tax_bp + e.tax_bp) - o.tax_cents * 10000 > 9999 LIMIT 10;

-- @ open orders
-- of customer_order, open_order
-- each order is open or delivered, and waits in the queue of its district as long as it is open
SELECT x.district_id, x.number, SUM(x.is_open) AS is_open, SUM(x.queued) AS queued FROM (SELECT district_id, number, id,
    CASE status WHEN 'open' THEN 1 WHEN 'delivered' THEN 0 ELSE 9 END AS is_open, 0 AS queued FROM customer_order
    UNION ALL SELECT district_id, number, order_id, 0, 1 FROM open_order) x GROUP BY x.district_id, x.number
    HAVING SUM(x.is_open) <> SUM(x.queued) OR MIN(x.id) <> MAX(x.id) LIMIT 10;

-- @ stock
-- of stock, order_line
-- what each depot has of an article is what it had and what came, less what orders took since the fill
SELECT s.depot_id, s.article_id, s.quantity, s.sold, l.taken FROM stock s LEFT JOIN (SELECT depot_id, article_id,
    SUM(quantity) AS taken, COUNT(*) AS counted FROM order_line WHERE order_id >= {first} GROUP BY depot_id, article_id) l
    ON l.depot_id = s.depot_id AND l.article_id = s.article_id WHERE s.sold <> COALESCE(l.taken, 0)
    OR s.orders <> COALESCE(l.counted, 0) OR s.quantity <> s.opening + 100 * s.restocked - s.sold OR s.quantity < 10
    UNION ALL SELECT l.depot_id, l.article_id, l.order_id, l.line, -1 FROM order_line l LEFT JOIN stock s
    ON s.depot_id = l.depot_id AND s.article_id = l.article_id WHERE s.depot_id IS NULL LIMIT 10;

-- @ balances
-- of customer, customer_order
-- each customer owes what was delivered, less what was paid
SELECT c.id, c.balance_cents, c.paid_cents, o.delivered FROM customer c LEFT JOIN (SELECT customer_id,
    SUM(total_cents) AS delivered FROM customer_order WHERE status = 'delivered' GROUP BY customer_id) o
    ON o.customer_id = c.id WHERE c.balance_cents <> COALESCE(o.delivered, 0) - c.paid_cents LIMIT 10;

-- @ payments
-- of customer, district, depot, payment
-- what each customer, district and depot counts as paid is the sum of the payments
SELECT x.place, x.id, SUM(x.stated) AS stated, SUM(x.paid) AS paid FROM (SELECT 1 AS place, id, paid_cents AS stated,
    0 AS paid FROM customer UNION ALL SELECT 1, customer_id, 0, amount_cents FROM payment UNION ALL SELECT 2, id, paid_cents, 0
    FROM district UNION ALL SELECT 2, district_id, 0, amount_cents FROM payment UNION ALL SELECT 3, id, paid_cents, 0 FROM depot
    UNION ALL SELECT 3, depot_id, 0, paid_cents FROM district) x GROUP BY x.place, x.id HAVING SUM(x.stated) <> SUM(x.paid) LIMIT 10;

-- @ districts of orders
-- of customer_order, customer
-- each order is of a district and a customer of it
SELECT o.id, o.district_id, c.district_id AS home FROM customer_order o LEFT JOIN customer c ON c.id = o.customer_id
    WHERE c.id IS NULL OR c.district_id <> o.district_id LIMIT 10;
