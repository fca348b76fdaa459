-- Statements of a bank's night.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- A span of accounts: $1 is the first of it, $2 the end. Orders are one of interest and one of charges a branch: $3 and twice the branch,
-- and one more. The own account of a branch is $4 and the branch.

-- Locked before their balances are read: what is posted beside them with a value date of the period comes before or not at all.

-- @ Left balance: lock accounts that are left
-- gives 100.0 such as 1
select id from account where id >= $1 and id < $2 and settled < $3 order by id for update;

-- @ Settle balance: compute interest and charges
insert into settlement (account_id, period, order_id, items, numbers, interest_cents, charge_cents)
    select q.id, $4, $3 + 2 * q.branch_id, q.items, q.numbers, (q.numbers - q.numbers % 3600000) / 3600000,
    q.charge_cents + q.item_cents * q.items from (select a.id, a.branch_id, t.charge_cents, t.item_cents,
    (select sum(b.balance_cents * case when b.balance_cents < 0 then t.debit_bp
    when b.balance_cents < t.second_cents then t.first_bp when b.balance_cents < t.third_cents then t.second_bp
    else t.third_bp end) from balance b where b.account_id = a.id and b.value_day >= $5 and b.value_day < $6) as numbers,
    (select count(*) from item i where i.account_id = a.id and i.posted_day >= $5 and i.posted_day < $6) as items
    from account a join terms t on t.product_id = a.product_id
    where a.id >= $1 and a.id < $2 and a.settled < $4 order by a.id limit 1000000) q;

-- @ CreditAccounts balance: update accounts
update account set balance_cents = balance_cents + (select s.interest_cents - s.charge_cents from settlement s
    where s.account_id = account.id and s.period = $3), settled = $3 where id >= $1 and id < $2 and settled < $3;

-- @ CreditBalances balance: update balances
update balance set turnover_cents = turnover_cents + (select s.interest_cents - s.charge_cents
    from settlement s where s.account_id = balance.account_id and s.period = $3),
    balance_cents = balance_cents + (select s.interest_cents - s.charge_cents
    from settlement s where s.account_id = balance.account_id and s.period = $3)
    where account_id >= $1 and account_id < $2 and value_day = $4;

-- @ PostInterest balance: insert interest
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select account_id, $5, order_id, $6, interest_cents, 'interest', $4 + (order_id - $3) / 2, 'interest' from settlement
    where account_id >= $1 and account_id < $2 and interest_cents <> 0;

-- @ PostCharges balance: insert charges
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select account_id, $5, order_id + 1, $6, -charge_cents, 'charge', $4 + (order_id - $3) / 2, 'charge' from settlement
    where account_id >= $1 and account_id < $2 and charge_cents <> 0;

-- @ Statements balance: insert statements
insert into statement (account_id, period, day, opening_cents, closing_cents, items)
    select s.account_id, s.period, b.value_day, p.closing_cents, b.balance_cents + s.interest_cents - s.charge_cents,
    s.items from settlement s join statement p on p.account_id = s.account_id and p.period = s.period - 1
    join balance b on b.account_id = s.account_id and b.value_day = $3
    where s.account_id >= $1 and s.account_id < $2;

-- @ InterestOrder balance: add to order of interest
insert into payment_order (id, kind, status, account_id, entered_day, due_day, items, total_cents)
    select order_id, 'night', 'posted', $4 + (order_id - $3) / 2, $5, $5, count(*), sum(interest_cents) from settlement
    where account_id >= $1 and account_id < $2 group by order_id on conflict (id) do update
    set items = payment_order.items + excluded.items, total_cents = payment_order.total_cents + excluded.total_cents;

-- @ ChargeOrder balance: add to order of charges
insert into payment_order (id, kind, status, account_id, entered_day, due_day, items, total_cents)
    select order_id + 1, 'night', 'posted', $4 + (order_id - $3) / 2, $5, $5, count(*), sum(charge_cents) from settlement
    where account_id >= $1 and account_id < $2 group by order_id on conflict (id) do update
    set items = payment_order.items + excluded.items, total_cents = payment_order.total_cents + excluded.total_cents;

-- @ OwnInterest balance: add to own side of interest
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select $4 + (order_id - $3) / 2, $5, order_id, $6, -sum(interest_cents), 'interest', 0, 'interest' from settlement
    where account_id >= $1 and account_id < $2 group by order_id
    on conflict (account_id, posted_day, order_id) do update set amount_cents = item.amount_cents + excluded.amount_cents;

-- @ OwnCharges balance: add to own side of charges
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select $4 + (order_id - $3) / 2, $5, order_id + 1, $6, sum(charge_cents), 'charge', 0, 'charge' from settlement
    where account_id >= $1 and account_id < $2 group by order_id
    on conflict (account_id, posted_day, order_id) do update set amount_cents = item.amount_cents + excluded.amount_cents;

-- These rows are always there: such an insert is how all engines add one sum to each of several rows without adding up a span for each of
-- them again. Own accounts of the span's branches are $4 and up to $5.

-- @ OwnAccount balance: update own account
insert into account (id, customer_id, product_id, branch_id, limit_cents, opening_cents, balance_cents, settled)
    select o.id, o.customer_id, o.product_id, o.branch_id, o.limit_cents, o.opening_cents, x.cents, o.settled
    from account o join (select order_id, sum(charge_cents - interest_cents) as cents from settlement
    where account_id >= $1 and account_id < $2 group by order_id) x on x.order_id = $3 + 2 * o.branch_id
    where o.id >= $4 and o.id < $5 on conflict (id) do update
    set balance_cents = account.balance_cents + excluded.balance_cents;

-- @ OwnBalance balance: update own balance
insert into balance (account_id, value_day, turnover_cents, balance_cents)
    select $4 + (order_id - $3) / 2, $5, sum(charge_cents - interest_cents), sum(charge_cents - interest_cents)
    from settlement where account_id >= $1 and account_id < $2 group by order_id
    on conflict (account_id, value_day) do update set turnover_cents = balance.turnover_cents + excluded.turnover_cents,
    balance_cents = balance.balance_cents + excluded.balance_cents;

-- A branch, and the whole bank.

-- @ LeftInBranch ledger: count accounts that are left
-- gives 1.0 such as 0
select count(*) from account where branch_id = $1 and id <= $2 and settled < $3;

-- @ Totalled ledger: count totals
-- gives 1.0 such as 0
select count(*) from ledger where branch_id = $1;

-- @ Total ledger: insert totals
insert into ledger (branch_id, product_id, day, debit_cents, credit_cents, items)
    select a.branch_id, a.product_id, i.posted_day, sum(case when i.amount_cents < 0 then -i.amount_cents else 0 end),
    sum(case when i.amount_cents > 0 then i.amount_cents else 0 end), count(*)
    from item i join account a on a.id = i.account_id
    where i.account_id >= $1 and i.account_id < $2 and i.posted_day < $3 and a.id >= $1 and a.id < $2
    group by a.branch_id, a.product_id, i.posted_day;

-- @ LeftInBank cut-off: count accounts that are left
-- gives 1.0 such as 0
select count(*) from account where id <= $1 and settled < $2;

-- @ CutOff cut-off: close the period
insert into cut_off (period, day, accounts, debit_cents, credit_cents)
    select $1, $2, $3, coalesce(sum(debit_cents), 0), coalesce(sum(credit_cents), 0) from ledger;
