-- What must hold for what a bank's night does: settlements, what they post, statements, the ledger, the cut-off. Interest and charges
-- are computed again, over all accounts at once.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- Numbers that follow from the scale stand in braces.

-- @ settlements
-- of account, settlement, statement, item
-- each account was settled once a period, with its statements and exactly the items of its settlement; those of the bank's own never are
SELECT a.id, a.settled, s.settlements, s.interest, s.charges, t.statements, i.interest AS posted_interest,
    i.charges AS posted_charges, i.items FROM account a
    LEFT JOIN (SELECT account_id, COUNT(*) AS settlements, SUM(interest_cents) AS interest,
    SUM(charge_cents) AS charges, SUM(CASE WHEN interest_cents <> 0 THEN 1 ELSE 0 END
    + CASE WHEN charge_cents <> 0 THEN 1 ELSE 0 END) AS items FROM settlement GROUP BY account_id) s ON s.account_id = a.id
    LEFT JOIN (SELECT account_id, COUNT(*) AS statements FROM statement GROUP BY account_id) t
    ON t.account_id = a.id
    LEFT JOIN (SELECT account_id, SUM(CASE WHEN kind = 'interest' THEN amount_cents ELSE 0 END) AS interest,
    SUM(CASE WHEN kind = 'charge' THEN -amount_cents ELSE 0 END) AS charges, COUNT(*) AS items FROM item
    WHERE order_id >= {first_of_night} AND account_id <= {accounts} GROUP BY account_id) i ON i.account_id = a.id
    WHERE a.settled <> COALESCE(s.settlements, 0) OR COALESCE(t.statements, 0) <> CASE WHEN a.id <= {accounts}
    THEN a.settled + 1 ELSE 0 END OR COALESCE(s.interest, 0) <> COALESCE(i.interest, 0)
    OR COALESCE(s.charges, 0) <> COALESCE(i.charges, 0) OR COALESCE(s.items, 0) <> COALESCE(i.items, 0) LIMIT 10;

-- @ interest and charges
-- of settlement, account, terms, balance, item
-- the interest and the charges of each settlement are what its product's terms, its balances and its items come to
SELECT s.account_id, s.period, s.items, i.items AS counted, s.numbers, n.numbers AS again, s.interest_cents,
    s.charge_cents FROM settlement s LEFT JOIN account a ON a.id = s.account_id
    LEFT JOIN terms t ON t.product_id = a.product_id
    LEFT JOIN (SELECT b.account_id, SUM(b.balance_cents * CASE WHEN b.balance_cents < 0 THEN t.debit_bp
    WHEN b.balance_cents < t.second_cents THEN t.first_bp WHEN b.balance_cents < t.third_cents THEN t.second_bp
    ELSE t.third_bp END) AS numbers FROM balance b JOIN account a ON a.id = b.account_id
    JOIN terms t ON t.product_id = a.product_id WHERE b.value_day < {today} GROUP BY b.account_id) n
    ON n.account_id = s.account_id LEFT JOIN (SELECT account_id, COUNT(*) AS items FROM item WHERE posted_day < {today}
    AND order_id < {first_of_night} GROUP BY account_id) i ON i.account_id = s.account_id
    WHERE a.id IS NULL OR a.id > {accounts} OR s.period <> 1 OR n.numbers IS NULL OR s.numbers <> n.numbers
    OR s.interest_cents * 3600000 <> s.numbers - s.numbers % 3600000 OR s.items <> COALESCE(i.items, 0)
    OR s.charge_cents <> t.charge_cents + t.item_cents * s.items LIMIT 10;

-- @ items of the night
-- of settlement, payment_order, item, account
-- interest and charges of an account are posted in the orders of its settlement, on the last day and for today, against the bank's own account in its branch
SELECT s.account_id, s.order_id, s.interest_cents, i.amount_cents AS interest, s.charge_cents, c.amount_cents AS charge,
    o.account_id AS own FROM settlement s LEFT JOIN account a ON a.id = s.account_id LEFT JOIN payment_order o ON o.id = s.order_id LEFT JOIN payment_order u ON u.id = s.order_id + 1
    LEFT JOIN item i ON i.account_id = s.account_id AND i.posted_day = {last_day} AND i.order_id = s.order_id
    LEFT JOIN item c ON c.account_id = s.account_id AND c.posted_day = {last_day} AND c.order_id = s.order_id + 1
    LEFT JOIN account w ON w.id = o.account_id AND w.id > {accounts}
    WHERE o.id IS NULL OR u.id IS NULL OR w.id IS NULL OR w.branch_id <> a.branch_id OR u.account_id <> o.account_id OR COALESCE(i.amount_cents, 0) <> s.interest_cents
    OR COALESCE(c.amount_cents, 0) <> -s.charge_cents OR i.kind <> 'interest' OR c.kind <> 'charge'
    OR i.value_day <> {today} OR c.value_day <> {today} OR i.contra_id <> o.account_id OR c.contra_id <> o.account_id
    LIMIT 10;

-- @ orders of the night
-- of payment_order, settlement, item
-- each order of the night has as many settlements as it says, which add up to its total, and its other side on an own account
SELECT x.id, SUM(x.items) AS items, SUM(x.cents) AS cents FROM (SELECT id, items, total_cents AS cents FROM payment_order
    WHERE id >= {first_of_night} UNION ALL SELECT order_id, -1, -interest_cents FROM settlement
    UNION ALL SELECT order_id + 1, -1, -charge_cents FROM settlement) x GROUP BY x.id
    HAVING SUM(x.items) <> 0 OR SUM(x.cents) <> 0 UNION ALL
    SELECT o.id, o.account_id, i.amount_cents FROM payment_order o LEFT JOIN item i ON i.account_id = o.account_id
    AND i.posted_day = o.due_day AND i.order_id = o.id WHERE o.id >= {first_of_night} AND (i.account_id IS NULL
    OR o.account_id <= {accounts} OR i.contra_id <> 0 OR i.value_day <> {today}
    OR i.amount_cents <> CASE WHEN o.id % 2 = 0 THEN -o.total_cents ELSE o.total_cents END
    OR i.kind <> CASE WHEN o.id % 2 = 0 THEN 'interest' ELSE 'charge' END) LIMIT 10;

-- @ statements
-- of statement, account, settlement, balance
-- each statement begins with what the one before ended with, and ends with the last balance after interest and charges
SELECT t.account_id, t.period, t.day, t.opening_cents, t.closing_cents, t.items FROM statement t
    LEFT JOIN account a ON a.id = t.account_id
    LEFT JOIN statement p ON p.account_id = t.account_id AND p.period = t.period - 1
    LEFT JOIN settlement s ON s.account_id = t.account_id AND s.period = t.period
    LEFT JOIN balance b ON b.account_id = t.account_id AND b.value_day = {last_day}
    WHERE a.id IS NULL OR NOT t.period IN (0, 1) OR (t.period = 0 AND (t.day <> {first_day} - 1
    OR t.opening_cents <> a.opening_cents OR t.closing_cents <> a.opening_cents OR t.items <> 0))
    OR (t.period = 1 AND (p.account_id IS NULL OR s.account_id IS NULL OR b.account_id IS NULL OR t.day <> {last_day}
    OR t.opening_cents <> p.closing_cents OR t.closing_cents <> b.balance_cents + s.interest_cents - s.charge_cents
    OR t.items <> s.items)) LIMIT 10;

-- @ ledger
-- of ledger, account, item
-- the ledger's totals of a branch by product and day are those of the items, once the branch is closed
SELECT x.branch_id, x.product_id, x.day, SUM(x.stated) AS stated, SUM(x.posted) AS posted, SUM(x.items) AS items
    FROM (SELECT branch_id, product_id, day, credit_cents - debit_cents AS stated, credit_cents + debit_cents AS moved,
    0 AS posted, items FROM ledger UNION ALL SELECT a.branch_id, a.product_id, i.posted_day, 0,
    SUM(CASE WHEN i.amount_cents < 0 THEN i.amount_cents ELSE -i.amount_cents END), SUM(i.amount_cents), -COUNT(*)
    FROM item i JOIN account a ON a.id = i.account_id WHERE i.posted_day < {today}
    AND a.branch_id IN (SELECT branch_id FROM ledger) GROUP BY a.branch_id, a.product_id, i.posted_day) x
    GROUP BY x.branch_id, x.product_id, x.day
    HAVING SUM(x.stated) <> SUM(x.posted) OR SUM(x.moved) <> 0 OR SUM(x.items) <> 0 LIMIT 10;

-- @ cut-off
-- of cut_off, account, ledger
-- when a period is cut off every account is settled, and its totals are those of the ledger
SELECT c.period, c.day, c.accounts, a.settled, c.debit_cents, c.credit_cents FROM cut_off c
    CROSS JOIN (SELECT COALESCE(SUM(CASE WHEN settled > 0 THEN 1 ELSE 0 END), 0) AS settled FROM account
    WHERE id <= {accounts}) a
    CROSS JOIN (SELECT COALESCE(SUM(debit_cents), 0) AS debits, COALESCE(SUM(credit_cents), 0) AS credits FROM ledger) l
    WHERE c.period <> 1 OR c.day <> {last_day} OR c.accounts <> {accounts} OR a.settled <> {accounts} OR c.debit_cents <> l.debits
    OR c.credit_cents <> l.credits OR c.debit_cents <> c.credit_cents LIMIT 10;
