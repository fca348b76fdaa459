-- What must hold for the large house beside that.
-- Each has a name, the tables that it reads, what holds as a sentence, and a query for rows that break it, ten at most.
-- Codes stand in braces.

-- @ lots replayed
-- of lot, lot_change
-- the changes of each lot begin with nothing, follow one another, and end with what is left of it
SELECT x.lot_id, SUM(x.changed) AS changed, SUM(x.held) AS held
    FROM (SELECT lot_id, quantity_after - quantity_before AS changed, 0 AS held,
    quantity_after * quantity_after - quantity_before * quantity_before AS squared FROM lot_change
    UNION ALL SELECT trade_id, 0, quantity, -quantity * quantity FROM lot) x GROUP BY x.lot_id
    HAVING SUM(x.changed) <> SUM(x.held) OR SUM(x.squared) <> 0 LIMIT 10;

-- @ lots moved
-- of trade, lot_change
-- each completed trade changed lots by its quantity, and no other trade changed any
SELECT x.trade_id, SUM(x.traded) AS traded, SUM(x.changed) AS changed
    FROM (SELECT id AS trade_id, CASE WHEN order_type IN ({market_buy}, {limit_buy}) THEN quantity
    ELSE -quantity END AS traded, 0 AS changed FROM trade WHERE status = {completed}
    UNION ALL SELECT trade_id, 0, quantity_after - quantity_before FROM lot_change) x
    GROUP BY x.trade_id HAVING SUM(x.traded) <> SUM(x.changed) LIMIT 10;
