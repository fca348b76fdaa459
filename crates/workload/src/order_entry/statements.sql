-- Statements of the wholesaler.
-- Below the name of each stands about how many rows it gives, with rows such as it may give, where it gives any.

-- @ LockDistrict new-order: lock district
-- gives 1.0 such as 301|75
select next_number, tax_bp from district where id = $1 for update;

-- @ Depot read depot
-- gives 1.0 such as Elmton|550
select town, tax_bp from depot where id = $1;

-- @ Customer new-order: read customer
-- gives 1.0 such as Moore|Ada|3|750000|-2000
select last_name, first_name, price_group, credit_cents, balance_cents from customer where id = $1;

-- @ OpenOrders read open orders of customer
-- gives 0.2 such as 1001|301|50000
select id, number, total_cents from customer_order where customer_id = $1 and status = 'open' order by number desc limit 10;

-- @ Article new-order: read article
-- gives 1.0 such as Elm Works|5000
select name, price_cents from article where id = $1;

-- @ Price new-order: read price
-- gives 1.0 such as 4900
select p.price_cents from customer c join price p on p.price_group = c.price_group where c.id = $1 and p.article_id = $2;

-- @ LockStock new-order: lock stock
-- gives 1.0 such as 50|abcdefghijklmnopqrstuvwxyz
select quantity, label from stock where depot_id = $1 and article_id = $2 for update;

-- @ NextNumber new-order: count district on
update district set next_number = $1 where id = $2;

-- @ InsertOrder new-order: insert order
insert into customer_order (id, district_id, number, customer_id, status, line_count, tax_cents, total_cents)
    values ($1, $2, $3, $4, 'open', $5, $6, $7);

-- @ Queue new-order: queue order
insert into open_order (district_id, number, order_id) values ($1, $2, $3);

-- @ TakeStock new-order: update stock
update stock set quantity = $1, restocked = restocked + $2, sold = sold + $3, orders = orders + 1
    where depot_id = $4 and article_id = $5;

-- @ InsertLine new-order: insert line
insert into order_line (order_id, line, article_id, depot_id, quantity, amount_cents) values ($1, $2, $3, $4, $5, $6);

-- @ LockCustomer payment: lock customer
-- gives 1.0 such as Moore|Ada|750000|-2000
select last_name, first_name, credit_cents, balance_cents from customer where id = $1 for update;

-- @ District payment: read district
-- gives 1.0 such as Elmton|7
select town, depot_id from district where id = $1;

-- @ LastPayments payment: read last payments
-- gives 1.0 such as 9|2000
select id, amount_cents from payment where customer_id = $1 order by id desc limit 5;

-- @ PayCustomer payment: update customer
update customer set balance_cents = $1, paid_cents = paid_cents + $2 where id = $3;

-- @ InsertPayment payment: insert payment
insert into payment (id, customer_id, district_id, amount_cents) values ($1, $2, $3, $4);

-- @ PayDistrict payment: update district
update district set paid_cents = paid_cents + $1 where id = $2;

-- @ PayDepot payment: update depot
update depot set paid_cents = paid_cents + $1 where id = $2;

-- @ FindCustomer order-status: find customer by name
-- gives 1.3 such as 1|Ada|-2000
select id, first_name, balance_cents from customer where district_id = $1 and last_name = $2 order by first_name, id limit 50;

-- @ LastOrder order-status: read last order
-- gives 1.0 such as 1001|301|open|50000
select id, number, status, total_cents from customer_order where customer_id = $1 order by number desc limit 1;

-- @ Lines read lines of order
-- gives 9.5 such as 1|5|1|3|15000
select line, article_id, depot_id, quantity, amount_cents from order_line where order_id = $1 order by line limit 50;

-- @ Oldest delivery: lock oldest open order
-- gives 1.0 such as 241|1001
select number, order_id from open_order where district_id = $1 order by number limit 1 for update;

-- @ Head delivery: read order
-- gives 1.0 such as 1|50000
select customer_id, total_cents from customer_order where id = $1;

-- @ Unqueue delivery: take order off the queue
delete from open_order where district_id = $1 and number = $2;

-- @ Deliver delivery: update order
update customer_order set status = 'delivered' where id = $1;

-- @ Charge delivery: update customer
update customer set balance_cents = balance_cents + $1 where id = $2;

-- @ Last stock-level: read district
-- gives 1.0 such as 301
select next_number from district where id = $1;

-- @ Scarce stock-level: count scarce articles
-- gives 1.0 such as 7
select count(distinct s.article_id) from customer_order o join order_line l on l.order_id = o.id
    join stock s on s.depot_id = $1 and s.article_id = l.article_id
    where o.district_id = $2 and o.number >= $3 and s.quantity < 20;
