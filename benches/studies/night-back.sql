-- Takes a night back, and leaves tables and log as the next one should find them.
update account a set settled = 0, balance_cents = a.balance_cents - coalesce((select sum(i.amount_cents) from item i
    where i.account_id = a.id and i.posted_day = 20453 and i.order_id >= 9007199254740992), 0)
    where exists (select 1 from settlement);
update balance b set turnover_cents = b.turnover_cents - x.cents, balance_cents = b.balance_cents - x.cents
    from (select account_id, sum(amount_cents) as cents from item
        where posted_day = 20453 and order_id >= 9007199254740992 group by account_id) x
    where x.account_id = b.account_id and b.value_day = 20454;
delete from item where posted_day = 20453 and order_id >= 9007199254740992;
delete from payment_order where id >= 9007199254740992;
delete from statement where period > 0;
truncate settlement, ledger, cut_off;
vacuum full account, balance, item, payment_order, statement;
analyze;
checkpoint;
