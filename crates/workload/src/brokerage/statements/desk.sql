-- Statements of the small preset alone.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- @ StatusTrades trade-status: read trades
-- gives 50.0 such as 1|1700000000000000|done|MB|ABCD|400|2500|2500|500|2000|Acme common
select t.id, t.at, t.status, t.order_type, t.symbol, t.quantity, t.bid_cents, t.price_cents, t.fee_cents,
    t.commission_cents, s.name from trade t join security s on s.symbol = t.symbol
    where t.account_id = $1 order by t.at desc, t.id desc limit 50;

-- @ StatusOwner trade-status: read owner
-- gives 1.0 such as Ada|Moore|Hall and Sons
select c.first_name, c.last_name, b.name from account a join customer c on c.id = a.customer_id
    join broker b on b.id = a.broker_id where a.id = $1;

-- @ WatchHoldings market-watch: read holdings
-- gives 10.0 such as ABCD|1000000|2450|2500
select p.symbol, s.shares_out, q.open_cents, q.price_cents from position p
    join security s on s.symbol = p.symbol join quote q on q.symbol = p.symbol
    where p.account_id = $1 order by p.symbol;
