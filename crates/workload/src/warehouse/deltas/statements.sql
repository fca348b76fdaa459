-- Statements of changes and loads of deltas, whatever the cube.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- @ InsertDelta order-change: insert delta
insert into delta (id, stream, cube_id, first_order, orders, day_id, moment, applied)
    values ($1, $2, $3, $4, $5, $6, $7, 0);

-- @ ChangeOrders order-change: update source orders
update source_order set quantity = 1 + (quantity + $1 + id) % 20, changed = $1 where id >= $2 and id < $3;

-- A database that holds nothing says of each statement that it changed a row.

-- @ FindDelta delta-load: find delta
-- gives 1.0 such as 1099511627776|1|1|1|1096|0
select id, cube_id, first_order, orders, day_id, moment from delta where stream = $1 and applied = 0
    order by id limit 1;

-- The marker comes first: loads of one cube follow each other, so that no two roll up the same aggregates. A moment of an earlier trial,
-- whose clock is another, is none.

-- @ MoveMarker delta-load: update marker
update marker set deltas = deltas + 1, facts = facts + $1,
    moment = case when delta_id <= $2 or moment < $3 then $3 else moment end,
    delta_id = case when delta_id < $4 then $4 else delta_id end where cube_id = $5;

-- @ LogChanges delta-load: log changes
insert into change_log (delta_id, order_id, cube_id, day_id, quantity, gross_cents)
    select $1, s.id, $2, $3, s.quantity - a.quantity, s.quantity * s.price_cents - a.gross_cents
    from source_order s join active_order a on a.id = s.id where s.id >= $4 and s.id < $5;

-- @ Activate delta-load: activate orders
update active_order set
    quantity = (select s.quantity from source_order s where s.id = active_order.id),
    gross_cents = (select s.quantity * s.price_cents from source_order s where s.id = active_order.id),
    delta_id = $1 where id >= $2 and id < $3;

-- @ Apply delta-load: mark delta
update delta set applied = 1 where id = $1 and applied = 0;
