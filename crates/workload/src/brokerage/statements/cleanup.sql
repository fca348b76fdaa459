-- The clean-up before a run, one transaction: orders that an earlier run left in the market are cancelled. It reaches only trades of runs;
-- those of the history are all completed.

-- @ pending orders
delete from pending_order;

-- A cancelled trade's last event must not lie before its first one, which is later than the end of the history.

-- @ events
insert into trade_event (trade_id, status, at) select id, '{cancelled}', (select max(e.at) from trade_event e
    where e.trade_id = trade.id and e.at >= {end}) from trade where id >= {first} and status in ('{pending}', '{submitted}');

-- @ trades
update trade set status = '{cancelled}' where id >= {first} and status in ('{pending}', '{submitted}');
