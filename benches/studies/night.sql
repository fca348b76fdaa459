-- A bank's night as one statement a step over all accounts: row for row what prony's jobs post span by span. The orders of interest
-- and of charges are one a branch, numbered after it.
create temp table of_night as select a.id, a.branch_id, a.product_id,
    9007199254740992 + 2 * a.branch_id as order_id, :accounts + a.branch_id as own
    from account a where a.id <= :accounts;
alter table of_night add primary key (id);
analyze of_night;
insert into settlement (account_id, period, order_id, items, numbers, interest_cents, charge_cents)
    select a.id, 1, a.order_id, coalesce(i.items, 0), n.numbers, (n.numbers - n.numbers % 3600000) / 3600000,
        t.charge_cents + t.item_cents * coalesce(i.items, 0)
    from of_night a join terms t on t.product_id = a.product_id
    join (select b.account_id, sum(b.balance_cents * case when b.balance_cents < 0 then t.debit_bp
            when b.balance_cents < t.second_cents then t.first_bp when b.balance_cents < t.third_cents then t.second_bp
            else t.third_bp end)::bigint as numbers
        from balance b join account a on a.id = b.account_id join terms t on t.product_id = a.product_id
        where b.value_day < 20454 group by b.account_id) n on n.account_id = a.id
    left join (select account_id, count(*) as items from item where posted_day < 20454 group by account_id) i
        on i.account_id = a.id;
update account a set balance_cents = a.balance_cents + s.interest_cents - s.charge_cents, settled = 1
    from settlement s where s.account_id = a.id;
update balance b set turnover_cents = b.turnover_cents + s.interest_cents - s.charge_cents,
    balance_cents = b.balance_cents + s.interest_cents - s.charge_cents
    from settlement s where s.account_id = b.account_id and b.value_day = 20454;
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select s.account_id, 20453, s.order_id, 20454, s.interest_cents, 'interest', a.own, 'interest'
    from settlement s join of_night a on a.id = s.account_id where s.interest_cents <> 0;
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select s.account_id, 20453, s.order_id + 1, 20454, -s.charge_cents, 'charge', a.own, 'charge'
    from settlement s join of_night a on a.id = s.account_id where s.charge_cents <> 0;
insert into statement (account_id, period, day, opening_cents, closing_cents, items)
    select s.account_id, 1, 20453, p.closing_cents, b.balance_cents + s.interest_cents - s.charge_cents, s.items
    from settlement s join statement p on p.account_id = s.account_id and p.period = 0
    join balance b on b.account_id = s.account_id and b.value_day = 20453;
insert into payment_order (id, kind, status, account_id, entered_day, due_day, items, total_cents)
    select s.order_id, 'night', 'posted', a.own, 20453, 20453, count(*), sum(s.interest_cents)
    from settlement s join of_night a on a.id = s.account_id group by s.order_id, a.own;
insert into payment_order (id, kind, status, account_id, entered_day, due_day, items, total_cents)
    select s.order_id + 1, 'night', 'posted', a.own, 20453, 20453, count(*), sum(s.charge_cents)
    from settlement s join of_night a on a.id = s.account_id group by s.order_id, a.own;
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select a.own, 20453, s.order_id, 20454, -sum(s.interest_cents), 'interest', 0, 'interest'
    from settlement s join of_night a on a.id = s.account_id group by s.order_id, a.own;
insert into item (account_id, posted_day, order_id, value_day, amount_cents, kind, contra_id, reference)
    select a.own, 20453, s.order_id + 1, 20454, sum(s.charge_cents), 'charge', 0, 'charge'
    from settlement s join of_night a on a.id = s.account_id group by s.order_id, a.own;
update account a set balance_cents = a.balance_cents - x.cents
    from (select a.own, sum(s.interest_cents - s.charge_cents) as cents from settlement s
        join of_night a on a.id = s.account_id group by a.own) x where x.own = a.id;
update balance b set turnover_cents = b.turnover_cents - x.cents, balance_cents = b.balance_cents - x.cents
    from (select a.own, sum(s.interest_cents - s.charge_cents) as cents from settlement s
        join of_night a on a.id = s.account_id group by a.own) x where x.own = b.account_id and b.value_day = 20454;
insert into ledger (branch_id, product_id, day, debit_cents, credit_cents, items)
    select a.branch_id, a.product_id, i.posted_day, sum(case when i.amount_cents < 0 then -i.amount_cents else 0 end),
        sum(case when i.amount_cents > 0 then i.amount_cents else 0 end), count(*)
    from item i join account a on a.id = i.account_id where i.posted_day < 20454
    group by a.branch_id, a.product_id, i.posted_day;
insert into cut_off (period, day, accounts, debit_cents, credit_cents)
    select 1, 20453, :accounts, sum(debit_cents), sum(credit_cents) from ledger;
