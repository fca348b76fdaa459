-- Statements of a bank's day.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- Posting.

-- @ LockAccount lock account
-- gives 1.0 such as 1000000000|200000|0
select balance_cents, limit_cents, settled from account where id = $1 for update;

-- @ Prenotes read prenotes
-- gives 0.02 such as 5000
select amount_cents from prenote where account_id = $1 order by order_id limit 50;

-- @ InsertOrder insert order
insert into payment_order (id, kind, status, account_id, entered_day, due_day, items, total_cents)
    values ($1, $2, $3, $4, $5, $6, $7, $8);

-- @ InsertOrderItem insert order item
insert into order_item (order_id, line, account_id, amount_cents, reference) values ($1, $2, $3, $4, $5);

-- @ InsertPrenote payment-order: insert prenote
insert into prenote (order_id, account_id, value_day, amount_cents) values ($1, $2, $3, $4);

-- @ InsertItem insert item
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    values ($1, $2, $3, $4, $5, $6, $7, $8);

-- @ UpdateBalance update balance
update balance set turnover_cents = turnover_cents + $1, balance_cents = balance_cents + $1
    where account_id = $2 and value_day = $3;

-- @ UpdateLaterBalances back-dated: update later balances
update balance set balance_cents = balance_cents + $1 where account_id = $2 and value_day > $3;

-- @ UpdateAccount update account
update account set balance_cents = balance_cents + $1 where id = $2;

-- @ LastItems card-posting: read last items
-- gives 10.0 such as 20453|400000|20453|-2500|debit|7|order 400000
select posted_day, order_id, value_day, amount_cents, kind, contra_id, reference from item
    where account_id = $1 order by posted_day desc, order_id desc limit 10;

-- @ LockStanding standing-order: lock next
-- gives 1.0 such as 1|5|9|2500
select id, account_id, payee_id, amount_cents from standing_order order by due_day, id limit 1 for update;

-- @ MoveStanding standing-order: move on
update standing_order set due_day = due_day + every_days where id = $1;

-- Reading.

-- @ ListItems list-postings: read items
-- gives 19.0 such as 20453|400000|20453|-2500|debit|7|order 400000
select posted_day, order_id, value_day, amount_cents, kind, contra_id, reference from item
    where account_id = $1 order by posted_day desc, order_id desc limit 40;

-- @ DetailItem posting-detail: read item
-- gives 1.0 such as 20453|-2500|debit|7|order 400000|Moore|Ada|North
select i.value_day, i.amount_cents, i.kind, i.contra_id, i.reference, c.last_name, c.first_name, b.name from item i
    join account a on a.id = i.contra_id join customer c on c.id = a.customer_id join branch b on b.id = a.branch_id
    where i.account_id = $1 and i.posted_day = $2 and i.order_id = $3;

-- @ DetailOrder posting-detail: read order
-- gives 0.1 such as single|posted|20453|1|2500
select kind, status, entered_day, items, total_cents from payment_order where id = $1;

-- @ ReadBalance balance: read account
-- gives 1.0 such as 1000000|200000
select balance_cents, limit_cents from account where id = $1;

-- @ ReadValueDates balance: read value dates
-- gives 5.0 such as 20454|-2500|1000000
select value_day, turnover_cents, balance_cents from balance where account_id = $1 order by value_day desc limit 5;

-- @ MasterCustomer master-data: read customer
-- gives 1.0 such as 7|Moore|Ada|10000|1 Mill Lane|Springfield|+00 00000012|North|Alder
select c.id, c.last_name, c.first_name, c.born, c.street, c.town, c.phone, b.name, k.name from account a
    join customer c on c.id = a.customer_id join branch b on b.id = c.branch_id join bank k on k.id = b.bank_id
    where a.id = $1;

-- @ MasterTerms master-data: read terms
-- gives 1.0 such as Account 3|100|5|300000|1100|10|1000000|50|5000000|80
select p.name, t.charge_cents, t.item_cents, t.limit_cents, t.debit_bp, t.first_bp, t.second_cents, t.second_bp,
    t.third_cents, t.third_bp from account a join product p on p.id = a.product_id
    join terms t on t.product_id = p.id where a.id = $1;

-- @ MasterAccounts master-data: read accounts of customer
-- gives 2.0 such as 12|3|200000|1000000
select a.id, a.product_id, a.limit_cents, a.balance_cents from account a
    where a.customer_id = $1 order by a.id limit 20;

-- @ StatementHead account-statement: read statement
-- gives 1.0 such as 0|20433|900000|1000000|19
select period, day, opening_cents, closing_cents, items from statement where account_id = $1
    order by period desc limit 1;

-- @ StatementItems account-statement: read items
-- gives 19.0 such as 20453|400000|20453|-2500|debit|7|order 400000
select posted_day, order_id, value_day, amount_cents, kind, contra_id, reference from item
    where account_id = $1 and posted_day >= $2 order by posted_day, order_id limit 100;
