-- What must hold for a brokerage house of either preset. Most texts are not held, only what is counted, summed or moves from state to state.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- Codes and numbers of the house stand in braces.

-- @ brokers
-- of broker, account, trade
-- each broker's counts of trades and commission are those of the completed trades of the accounts
SELECT b.id, b.trades, b.commission_cents, COALESCE(d.counted, 0) AS counted,
    COALESCE(d.summed, 0) AS summed
    FROM broker b LEFT JOIN (SELECT a.broker_id, COUNT(*) AS counted, SUM(t.commission_cents) AS summed
    FROM trade t JOIN account a ON a.id = t.account_id WHERE t.status = {completed} GROUP BY a.broker_id) d
    ON d.broker_id = b.id
    WHERE b.trades <> COALESCE(d.counted, 0) OR b.commission_cents <> COALESCE(d.summed, 0) LIMIT 10;

-- @ positions
-- of position, lot
-- each position is the sum of its lots, and each lot has a position
SELECT x.account_id, x.symbol, SUM(x.stated) AS stated, SUM(x.held) AS held
    FROM (SELECT account_id, symbol, quantity AS stated, 0 AS held, 1 AS positions FROM position
    UNION ALL SELECT account_id, symbol, 0, quantity, 0 FROM lot) x GROUP BY x.account_id, x.symbol
    HAVING SUM(x.stated) <> SUM(x.held) OR SUM(x.positions) <> 1 LIMIT 10;

-- @ positions and trades
-- of position, trade
-- each position is what completed trades bought less what they sold
SELECT x.account_id, x.symbol, SUM(x.stated) AS stated, SUM(x.traded) AS traded
    FROM (SELECT account_id, symbol, quantity AS stated, 0 AS traded FROM position
    UNION ALL SELECT account_id, symbol, 0, CASE WHEN order_type IN ({market_buy}, {limit_buy}) THEN quantity
    ELSE -quantity END FROM trade WHERE status = {completed}) x GROUP BY x.account_id, x.symbol
    HAVING SUM(x.stated) <> SUM(x.traded) LIMIT 10;

-- @ positions held
-- of position
-- each position holds something
SELECT account_id, symbol, quantity FROM position WHERE quantity <= 0 LIMIT 10;

-- @ lots bought
-- of lot, trade
-- each lot is what is left of a completed purchase, at its price
SELECT l.trade_id, l.price_cents, t.price_cents AS paid, l.quantity, t.quantity AS bought FROM lot l
    LEFT JOIN trade t ON t.id = l.trade_id WHERE t.id IS NULL OR t.status <> {completed}
    OR NOT t.order_type IN ({market_buy}, {limit_buy}) OR t.price_cents <> l.price_cents
    OR t.account_id <> l.account_id OR t.symbol <> l.symbol OR l.quantity <= 0 OR l.quantity > t.quantity LIMIT 10;

-- @ amounts
-- of trade, settlement, account
-- each settled amount is price times quantity with fee, commission and the tax that is withheld
SELECT t.id, t.price_cents, t.quantity, t.fee_cents, t.commission_cents, t.tax_cents, s.amount_cents
    FROM trade t JOIN settlement s ON s.trade_id = t.id JOIN account a ON a.id = t.account_id
    WHERE t.status = {completed} AND s.amount_cents <> CASE WHEN t.order_type IN ({market_buy}, {limit_buy})
    THEN -(t.price_cents * t.quantity) ELSE t.price_cents * t.quantity
    - CASE WHEN a.tax_status = 1 THEN t.tax_cents ELSE 0 END END - t.fee_cents - t.commission_cents LIMIT 10;

-- @ taxes
-- of trade, account
-- only sales of accounts whose gains are taxed have a tax, and it is never negative
SELECT t.id, t.order_type, t.tax_cents, a.tax_status FROM trade t JOIN account a ON a.id = t.account_id
    WHERE t.status = {completed} AND (t.tax_cents < 0 OR (t.tax_cents > 0
    AND (a.tax_status = 0 OR t.order_type IN ({market_buy}, {limit_buy})))) LIMIT 10;

-- @ cash
-- of account, trade, cash_entry
-- each account's balance is what it began with and its cash entries
SELECT a.id, a.opening_cents, a.balance_cents, COALESCE(d.entered, 0) AS entered
    FROM account a LEFT JOIN (SELECT t.account_id, SUM(c.amount_cents) AS entered
    FROM cash_entry c JOIN trade t ON t.id = c.trade_id GROUP BY t.account_id) d ON d.account_id = a.id
    WHERE a.balance_cents <> a.opening_cents + COALESCE(d.entered, 0) LIMIT 10;

-- @ cash entries
-- of trade, settlement, cash_entry
-- each completed trade that is paid from cash has a cash entry of the settled amount, and no other has one
SELECT t.id, t.status, t.is_cash, s.amount_cents AS settled, c.amount_cents AS entered
    FROM trade t LEFT JOIN settlement s ON s.trade_id = t.id LEFT JOIN cash_entry c ON c.trade_id = t.id
    WHERE (t.status = {completed} AND t.is_cash = 1
    AND (c.trade_id IS NULL OR s.trade_id IS NULL OR c.amount_cents <> s.amount_cents))
    OR (c.trade_id IS NOT NULL AND (t.status <> {completed} OR t.is_cash <> 1)) LIMIT 10;

-- @ settlements
-- of trade, settlement
-- each completed trade has a price and exactly one settlement, and no other has one
SELECT t.id, t.status, t.price_cents, s.trade_id AS settled
    FROM trade t LEFT JOIN settlement s ON s.trade_id = t.id
    WHERE (t.status = {completed} AND (s.trade_id IS NULL OR t.price_cents IS NULL))
    OR (t.status <> {completed} AND s.trade_id IS NOT NULL) LIMIT 10;

-- @ events
-- of trade, trade_event
-- each trade went through a legal chain of states, in the order of time from its own moment on, and is in the last one
SELECT t.id, t.at, t.status, t.order_type, d.pended, d.sent, d.filled, d.dropped
    FROM trade t LEFT JOIN (SELECT trade_id, COUNT(*) AS events, SUM(CASE WHEN status IN
    ({pending}, {submitted}, {completed}, {cancelled}) THEN 1 ELSE 0 END) AS known,
    MAX(CASE WHEN status = {pending} THEN at ELSE 0 END) AS pended,
    MAX(CASE WHEN status = {submitted} THEN at ELSE 0 END) AS sent,
    MAX(CASE WHEN status = {completed} THEN at ELSE 0 END) AS filled,
    MAX(CASE WHEN status = {cancelled} THEN at ELSE 0 END) AS dropped
    FROM trade_event GROUP BY trade_id) d ON d.trade_id = t.id WHERE d.trade_id IS NULL
    OR CASE t.status WHEN {pending} THEN d.pended WHEN {submitted} THEN d.sent
    WHEN {completed} THEN d.filled WHEN {cancelled} THEN d.dropped ELSE 0 END = 0
    OR (t.order_type IN ({limit_buy}, {limit_sell}, {stop_loss}) AND d.pended = 0)
    OR (NOT t.order_type IN ({limit_buy}, {limit_sell}, {stop_loss}) AND (d.pended > 0 OR d.sent = 0))
    OR (t.status = {pending} AND d.events <> 1) OR (t.status = {submitted} AND (d.filled > 0 OR d.dropped > 0))
    OR (t.status = {completed} AND (d.sent = 0 OR d.dropped > 0))
    OR (t.status = {cancelled} AND d.filled > 0) OR (d.sent > 0 AND d.sent < d.pended)
    OR (d.filled > 0 AND d.filled < d.sent) OR d.known <> d.events
    OR t.at <> CASE WHEN d.pended > 0 THEN d.pended ELSE d.sent END LIMIT 10;

-- @ limits
-- of trade
-- each limit order was filled at its limit or at a better price
SELECT id, order_type, bid_cents, price_cents FROM trade WHERE status = {completed}
    AND ((order_type = {limit_buy} AND price_cents > bid_cents)
    OR (order_type = {limit_sell} AND price_cents < bid_cents)) LIMIT 10;

-- @ settlement terms
-- of trade, trade_event, settlement, cash_entry
-- each settlement is of its trade's kind and due two days after the fill, and cash was entered at the fill
SELECT t.id, t.is_cash, s.kind, s.due, e.at AS filled, c.at AS entered FROM settlement s
    JOIN trade t ON t.id = s.trade_id JOIN trade_event e ON e.trade_id = t.id AND e.status = {completed}
    LEFT JOIN cash_entry c ON c.trade_id = t.id
    WHERE (t.is_cash = 1 AND NOT s.kind IN ({cash}, {cash_edited}))
    OR (t.is_cash = 0 AND NOT s.kind IN ({margin}, {margin_edited}))
    OR (s.due - {days}) * {day} > e.at OR (s.due - {days} + 1) * {day} <= e.at
    OR (t.is_cash = 1 AND c.at <> e.at) LIMIT 10;

-- @ pending orders
-- of trade, pending_order, account
-- each pending trade has a pending order that says the same, and no other trade has one
SELECT t.id, t.status, p.trade_id AS pending FROM trade t
    LEFT JOIN pending_order p ON p.trade_id = t.id LEFT JOIN account a ON a.id = t.account_id
    WHERE (t.status <> {pending} AND p.trade_id IS NOT NULL) OR (t.status = {pending}
    AND (p.trade_id IS NULL OR p.symbol <> t.symbol OR p.order_type <> t.order_type
    OR p.quantity <> t.quantity OR p.bid_cents <> t.bid_cents OR p.broker_id <> a.broker_id)) LIMIT 10;
