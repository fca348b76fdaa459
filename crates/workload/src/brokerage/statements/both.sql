-- Statements of both presets of a brokerage house.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- The parties to an order.

-- @ OrderAccount trade-order: read account
-- gives 1.0 such as Savings|7|1|25000000|12|2|Ada|Moore|Hall and Sons
select a.name, a.broker_id, a.tax_status, a.balance_cents, c.id, c.tier, c.first_name, c.last_name, b.name
    from account a join customer c on c.id = a.customer_id join broker b on b.id = a.broker_id where a.id = $1;

-- @ OrderHoldings trade-order: read holdings
-- gives 5.0 such as ABCD|800|2500
select p.symbol, p.quantity, q.price_cents from position p join quote q on q.symbol = p.symbol
    where p.account_id = $1 order by p.symbol;

-- @ OrderSecurity trade-order: read security
-- gives 1.0 such as Acme common|NORTH|3|2500
select s.name, s.exchange_id, s.company_id, q.price_cents from security s join quote q on q.symbol = s.symbol
    where s.symbol = $1;

-- @ OrderOldestLots trade-order: read oldest lots
-- gives 2.0 such as 2400|400
select price_cents, quantity from lot where account_id = $1 and symbol = $2 order by at, trade_id;

-- @ OrderNewestLots trade-order: read newest lots
-- gives 2.0 such as 2400|400
select price_cents, quantity from lot where account_id = $1 and symbol = $2 order by at desc, trade_id desc;

-- @ InsertTrade trade-order: insert trade
insert into trade (id, at, status, order_type, is_cash, symbol, quantity, bid_cents, account_id, placed_by,
    price_cents, fee_cents, commission_cents, tax_cents, lifo)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, null, $11, $12, $13, $14);

-- @ InsertEvent insert trade event
insert into trade_event (trade_id, status, at)
    select id, $2, case when at > $3 then at else $3 end from trade where id = $1;

-- @ InsertPending trade-order: insert pending order
insert into pending_order (trade_id, order_type, symbol, quantity, bid_cents, broker_id)
    values ($1, $2, $3, $4, $5, $6);

-- The fill of an order.

-- @ FillTrade trade-result: lock trade
-- gives 1.0 such as 35|ABCD|MB|400|2500|1|0|sent|500 / 35|ABCD|MS|400|2500|1|0|sent|500
select account_id, symbol, order_type, quantity, bid_cents, is_cash, lifo, status, fee_cents
    from trade where id = $1 for update;

-- @ FillAccount trade-result: lock account
-- gives 1.0 such as 12|7|1
select customer_id, broker_id, tax_status from account where id = $1 for update;

-- @ FillPosition trade-result: read position
-- gives 1.0 such as 800
select quantity from position where account_id = $1 and symbol = $2;

-- @ FillOldestLots trade-result: read oldest lots
-- gives 2.0 such as 1|2400|400
select trade_id, price_cents, quantity from lot where account_id = $1 and symbol = $2 order by at, trade_id;

-- @ FillNewestLots trade-result: read newest lots
-- gives 2.0 such as 1|2400|400
select trade_id, price_cents, quantity from lot where account_id = $1 and symbol = $2
    order by at desc, trade_id desc;

-- @ FillQuote trade-result: read quote
-- gives 1.0 such as 2500|Acme common
select q.price_cents, s.name from quote q join security s on s.symbol = q.symbol where q.symbol = $1;

-- @ InsertLot trade-result: insert lot
insert into lot (trade_id, account_id, symbol, at, price_cents, quantity) values ($1, $2, $3, $4, $5, $6);

-- @ UpdateLot trade-result: update lot
update lot set quantity = $1 where trade_id = $2;

-- @ DeleteLot trade-result: delete lot
delete from lot where trade_id = $1;

-- @ InsertPosition trade-result: insert position
insert into position (account_id, symbol, quantity) values ($1, $2, $3);

-- @ UpdatePosition trade-result: update position
update position set quantity = $1 where account_id = $2 and symbol = $3;

-- @ DeletePosition trade-result: delete position
delete from position where account_id = $1 and symbol = $2;

-- @ CompleteTrade trade-result: complete trade
update trade set status = $1, price_cents = $2, quantity = $3, commission_cents = $4, tax_cents = $5
    where id = $6;

-- @ InsertSettlement trade-result: insert settlement
insert into settlement (trade_id, kind, due, amount_cents) values ($1, $2, $3, $4);

-- @ InsertCash trade-result: insert cash entry
insert into cash_entry (trade_id, at, amount_cents, description) values ($1, $2, $3, $4);

-- @ AddBalance trade-result: update account
update account set balance_cents = balance_cents + $1 where id = $2;

-- @ AddBroker trade-result: update broker
update broker set trades = trades + 1, commission_cents = commission_cents + $1 where id = $2;

-- Quotes, and the orders that they fire.

-- @ FeedQuote market-feed: lock quote
-- gives 1.0 such as 2500|2450
select price_cents, open_cents from quote where symbol = $1 for update;

-- @ UpdateQuote market-feed: update quote
update quote set at = $1, price_cents = $2, volume = volume + $3 where symbol = $4;

-- @ FeedPending market-feed: find pending orders
-- gives 0.2 such as 1
select trade_id from pending_order where symbol = $1 and ((order_type = 'LB' and bid_cents >= $2)
    or (order_type = 'LS' and bid_cents <= $2) or (order_type = 'SL' and bid_cents >= $2))
    order by trade_id limit 20;

-- @ SetStatus update trade status
update trade set status = $1 where id = $2;

-- @ DeletePending market-feed: delete pending order
delete from pending_order where trade_id = $1;

-- A customer's money.

-- @ CustomerByTax customer-position: find customer
-- gives 1.0 such as 12
select id from customer where tax_id = $1;

-- @ CustomerRow customer-position: read customer
-- gives 1.0 such as T000000012|live|Moore|Ada|2|3650|555 0112|ada@example.org
select tax_id, status, last_name, first_name, tier, born, phone, email from customer where id = $1;

-- @ CustomerAccounts customer-position: value accounts
-- gives 5.0 such as 35|25000000|2000000
select a.id, a.balance_cents, coalesce(sum(p.quantity * q.price_cents), 0) from account a
    left join position p on p.account_id = a.id left join quote q on q.symbol = p.symbol
    where a.customer_id = $1 group by a.id, a.balance_cents order by a.id limit 10;

-- @ CustomerTrades customer-position: read last trades
-- gives 30.0 such as 1|ABCD|400|done|1700000000000000
select t.id, t.symbol, t.quantity, e.status, e.at from (select id, symbol, quantity, at from trade
    where account_id = $1 order by at desc, id desc limit 10) t join trade_event e on e.trade_id = t.id
    order by t.at desc, t.id desc, e.at, e.status;
