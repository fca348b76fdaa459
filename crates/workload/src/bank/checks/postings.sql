-- What must hold for what a bank posts: items, balances, orders. What an order says stands in its items, too, so that each holds
-- the other. Of an order that posts nothing, the order's own items and its prenote are held, and no more.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- Numbers that follow from the scale stand in braces.

-- @ double entry
-- of item
-- the items of each order add up to nothing, and have one posting date and one value date
SELECT order_id, SUM(amount_cents) AS summed, MIN(posted_day) AS posted, MIN(value_day) AS valued FROM item
    GROUP BY order_id HAVING SUM(amount_cents) <> 0 OR MIN(posted_day) <> MAX(posted_day)
    OR MIN(value_day) <> MAX(value_day) LIMIT 10;

-- @ double entry by day
-- of item
-- the items of each day add up to nothing
SELECT posted_day, SUM(amount_cents) AS summed FROM item GROUP BY posted_day HAVING SUM(amount_cents) <> 0 LIMIT 10;

-- @ turnovers
-- of balance, item
-- what each account turned over on each value date is what was posted for it
SELECT b.account_id, b.value_day, b.turnover_cents, i.posted FROM balance b
    LEFT JOIN (SELECT account_id, value_day, SUM(amount_cents) AS posted FROM item GROUP BY account_id, value_day) i
    ON i.account_id = b.account_id AND i.value_day = b.value_day
    WHERE b.turnover_cents <> COALESCE(i.posted, 0) LIMIT 10;

-- @ balances
-- of balance, account
-- each balance is that of the day before with the turnover of its own value date
SELECT b.account_id, b.value_day, p.balance_cents AS earlier, b.turnover_cents, b.balance_cents FROM balance b
    JOIN balance p ON p.account_id = b.account_id AND p.value_day = b.value_day - 1
    WHERE b.balance_cents <> p.balance_cents + b.turnover_cents
    UNION ALL SELECT a.id, b.value_day, a.opening_cents, b.turnover_cents, b.balance_cents FROM account a
    JOIN balance b ON b.account_id = a.id AND b.value_day = {first_day}
    WHERE b.balance_cents <> a.opening_cents + b.turnover_cents LIMIT 10;

-- @ accounts
-- of account, balance, terms
-- each account has a balance for every day of the history and for today, has what its last one says, and the limit of its product
SELECT a.id, a.balance_cents, b.balance_cents AS last, c.days, c.inside, a.limit_cents, t.limit_cents AS agreed
    FROM account a LEFT JOIN terms t ON t.product_id = a.product_id
    LEFT JOIN balance b ON b.account_id = a.id AND b.value_day = {today}
    LEFT JOIN (SELECT account_id, COUNT(*) AS days, SUM(CASE WHEN value_day >= {first_day} AND value_day <= {today}
    THEN 1 ELSE 0 END) AS inside FROM balance GROUP BY account_id) c ON c.account_id = a.id
    WHERE b.account_id IS NULL OR b.balance_cents <> a.balance_cents OR c.days <> {balances}
    OR c.inside <> {balances} OR t.product_id IS NULL OR a.limit_cents <> t.limit_cents LIMIT 10;

-- @ orders
-- of payment_order, item
-- each order is open, posted or rejected, and only a posted one has items
SELECT o.id, o.status, i.items FROM payment_order o
    LEFT JOIN (SELECT order_id, COUNT(*) AS items FROM item WHERE order_id >= {first_order} GROUP BY order_id) i
    ON i.order_id = o.id WHERE NOT o.status IN ('open', 'posted', 'rejected')
    OR (o.status = 'posted' AND i.order_id IS NULL) OR (o.status <> 'posted' AND i.order_id IS NOT NULL) LIMIT 10;

-- @ days of orders
-- of payment_order
-- each order was entered on its day, is due on that day if it is no single one for a day to come, and is posted when it is due
SELECT id, kind, status, entered_day, due_day FROM payment_order WHERE entered_day <> CASE
    WHEN id <= {last_order} OR id >= {first_of_night} THEN due_day WHEN id < {first_of_day} THEN {last_day} ELSE {today} END
    OR due_day < entered_day OR (status = 'posted' AND due_day > {today}) OR (status = 'open' AND due_day <= {today})
    OR (due_day > {today} AND kind <> 'single') OR (id >= {first_of_night} AND due_day <> {last_day})
    OR NOT kind IN ('single', 'salary', 'debit', 'card', 'bulk', 'run', 'standing', 'night')
    OR (id >= {first_of_night} AND kind <> 'night') OR (id < {first_of_night} AND kind = 'night') LIMIT 10;

-- @ order items
-- of payment_order, order_item
-- each order has as many items of its own as it says, counted from 0 and marked with its number, which add up to its total; those of the night have none
SELECT x.id, SUM(x.stated) AS stated, SUM(x.summed) AS summed, SUM(x.said) AS said, SUM(x.counted) AS counted,
    SUM(x.strange) AS strange FROM (SELECT id, total_cents AS stated, 0 AS summed, items AS said, 0 AS counted, 0 AS line,
    0 AS strange FROM payment_order WHERE kind <> 'night' UNION ALL SELECT order_id, 0, amount_cents, 0, 1, line,
    CASE WHEN reference = CONCAT('order ', order_id) THEN 0 ELSE 1 END FROM order_item) x GROUP BY x.id
    HAVING SUM(x.stated) <> SUM(x.summed) OR SUM(x.said) <> SUM(x.counted) OR SUM(x.strange) <> 0 OR MIN(x.line) < 0
    OR MAX(x.line) >= SUM(x.said) LIMIT 10;

-- @ posted orders
-- of payment_order, item
-- what was posted to payees of an order is its total, by as many items as it says and one of its payer
SELECT o.id, o.total_cents, i.posted, o.items, i.items AS posted_items FROM payment_order o
    JOIN (SELECT order_id, SUM(CASE WHEN amount_cents > 0 THEN amount_cents ELSE 0 END) AS posted, COUNT(*) AS items
    FROM item WHERE order_id >= {first_order} GROUP BY order_id) i ON i.order_id = o.id
    WHERE o.kind <> 'night' AND (o.total_cents <> i.posted OR o.items + 1 <> i.items) LIMIT 10;

-- @ payers and payees
-- of payment_order, order_item, item
-- the items of a posted order are those of its payer and its payees, with their amounts, of its kind and its day, and name the other side
SELECT o.id, l.line, o.account_id AS payer, l.account_id AS payee, d.amount_cents AS paid, c.amount_cents AS got
    FROM payment_order o JOIN order_item l ON l.order_id = o.id LEFT JOIN item d ON d.account_id = o.account_id
    AND d.posted_day = o.due_day AND d.order_id = o.id AND d.order_id >= {first_order} LEFT JOIN item c
    ON c.account_id = l.account_id AND c.posted_day = o.due_day AND c.order_id = o.id AND c.order_id >= {first_order}
    WHERE o.status = 'posted' AND (d.account_id IS NULL OR c.account_id IS NULL OR d.amount_cents <> -o.total_cents
    OR c.amount_cents <> l.amount_cents OR d.kind <> o.kind OR c.kind <> o.kind OR c.contra_id <> o.account_id
    OR d.contra_id <> CASE WHEN o.items = 1 THEN l.account_id ELSE 0 END) LIMIT 10;

-- @ items
-- of item, account, payment_order
-- each item is of an account, of a day that has balances, of an order if that is not archived, and is marked with it
SELECT i.account_id, i.order_id, i.value_day, i.reference FROM item i LEFT JOIN account a ON a.id = i.account_id
    LEFT JOIN payment_order o ON o.id = i.order_id
    WHERE a.id IS NULL OR i.value_day < {first_day} OR i.value_day > {today}
    OR (o.id IS NULL AND i.order_id >= {first_order}) UNION ALL SELECT account_id, order_id, value_day, reference FROM item
    WHERE reference <> CASE WHEN order_id >= {first_of_night} THEN kind ELSE CONCAT('order ', order_id) END LIMIT 10;

-- @ prenotes
-- of payment_order, prenote
-- each open order has a prenote of its account, day and total, and no other order has one
SELECT o.id, o.status, p.account_id FROM payment_order o LEFT JOIN prenote p ON p.order_id = o.id
    WHERE (o.status = 'open' AND (p.order_id IS NULL OR p.account_id <> o.account_id OR p.value_day <> o.due_day
    OR p.amount_cents <> o.total_cents)) OR (o.status <> 'open' AND p.order_id IS NOT NULL) UNION ALL
    SELECT p.order_id, 'none', p.account_id FROM prenote p LEFT JOIN payment_order o ON o.id = p.order_id
    WHERE o.id IS NULL LIMIT 10;

-- @ standing orders
-- of standing_order, payment_order, order_item
-- each standing order was moved on once for each order that came of it, which has its payer, payee and amount
SELECT s.id, s.account_id, s.due_day, p.carried FROM standing_order s LEFT JOIN (SELECT account_id, COUNT(*) AS carried
    FROM payment_order WHERE kind = 'standing' GROUP BY account_id) p ON p.account_id = s.account_id
    WHERE s.due_day <> {today} + (s.id - 1) % 20 + s.every_days * COALESCE(p.carried, 0) UNION ALL
    SELECT o.id, o.account_id, o.due_day, -1 FROM payment_order o JOIN order_item l ON l.order_id = o.id
    LEFT JOIN (SELECT account_id, MIN(payee_id) AS payee_id, MIN(amount_cents) AS amount_cents FROM standing_order
    GROUP BY account_id) s ON s.account_id = o.account_id WHERE o.kind = 'standing' AND (s.account_id IS NULL
    OR s.payee_id <> l.account_id OR s.amount_cents <> o.total_cents) LIMIT 10;

-- @ payees
-- of order_item, standing_order, prenote, account, payment_order
-- whoever is to be paid, or to pay, has an account
SELECT x.account_id FROM (SELECT account_id FROM order_item UNION ALL SELECT account_id FROM standing_order
    UNION ALL SELECT payee_id FROM standing_order UNION ALL SELECT account_id FROM prenote
    UNION ALL SELECT account_id FROM payment_order WHERE kind <> 'night') x
    LEFT JOIN account a ON a.id = x.account_id WHERE a.id IS NULL LIMIT 10;
