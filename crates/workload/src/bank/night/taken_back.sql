-- Takes a night back, one transaction: what it posted is subtracted and removed.

-- @ accounts
update account set settled = 0, balance_cents = balance_cents - (select coalesce(sum(i.amount_cents), 0) from item i
    where i.account_id = account.id and i.posted_day = {day} and i.order_id >= {first});

-- @ balances
update balance set turnover_cents = turnover_cents - (select coalesce(sum(i.amount_cents), 0) from item i
    where i.account_id = balance.account_id and i.posted_day = {day} and i.order_id >= {first}),
    balance_cents = balance_cents - (select coalesce(sum(i.amount_cents), 0) from item i
    where i.account_id = balance.account_id and i.posted_day = {day} and i.order_id >= {first}) where value_day = {today};

-- @ items
delete from item where posted_day = {day} and order_id >= {first};

-- @ orders
delete from payment_order where id >= {first};

-- @ settlements
delete from settlement;

-- @ statements
delete from statement where period > 0;

-- @ ledger
delete from ledger;

-- @ cut-off
delete from cut_off;
