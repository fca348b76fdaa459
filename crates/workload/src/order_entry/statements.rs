//! What the wholesaler's transactions say.

use crate::transaction::texts;

texts::list! { Said from 0, SAID:
    LockDistrict rows(1.0, ["301|75"])
        "new-order: lock district" = "select next_number, tax_bp from district where id = $1 for update";
    Depot rows(1.0, ["Elmton|550"]) "read depot" = "select town, tax_bp from depot where id = $1";
    Customer rows(1.0, ["Moore|Ada|3|750000|-2000"])
        "new-order: read customer" =
        "select last_name, first_name, price_group, credit_cents, balance_cents from customer where id = $1";
    OpenOrders rows(0.2, ["1001|301|50000"])
        "read open orders of customer" =
        "select id, number, total_cents from customer_order where customer_id = $1 and status = 'open' order by number desc limit 10";
    Article rows(1.0, ["Elm Works|5000"]) "new-order: read article" = "select name, price_cents from article where id = $1";
    Price rows(1.0, ["4900"])
        "new-order: read price" =
        "select p.price_cents from customer c join price p on p.price_group = c.price_group where c.id = $1 and p.article_id = $2";
    LockStock rows(1.0, ["50|abcdefghijklmnopqrstuvwxyz"])
        "new-order: lock stock" = "select quantity, label from stock where depot_id = $1 and article_id = $2 for update";
    NextNumber "new-order: count district on" = "update district set next_number = $1 where id = $2";
    InsertOrder "new-order: insert order" =
        "insert into customer_order (id, district_id, number, customer_id, status, line_count, tax_cents, total_cents) \
         values ($1, $2, $3, $4, 'open', $5, $6, $7)";
    Queue "new-order: queue order" = "insert into open_order (district_id, number, order_id) values ($1, $2, $3)";
    TakeStock "new-order: update stock" =
        "update stock set quantity = $1, restocked = restocked + $2, sold = sold + $3, orders = orders + 1 \
         where depot_id = $4 and article_id = $5";
    InsertLine "new-order: insert line" =
        "insert into order_line (order_id, line, article_id, depot_id, quantity, amount_cents) values ($1, $2, $3, $4, $5, $6)";

    LockCustomer rows(1.0, ["Moore|Ada|750000|-2000"])
        "payment: lock customer" =
        "select last_name, first_name, credit_cents, balance_cents from customer where id = $1 for update";
    District rows(1.0, ["Elmton|7"]) "payment: read district" = "select town, depot_id from district where id = $1";
    LastPayments rows(1.0, ["9|2000"])
        "payment: read last payments" =
        "select id, amount_cents from payment where customer_id = $1 order by id desc limit 5";
    PayCustomer "payment: update customer" =
        "update customer set balance_cents = $1, paid_cents = paid_cents + $2 where id = $3";
    InsertPayment "payment: insert payment" =
        "insert into payment (id, customer_id, district_id, amount_cents) values ($1, $2, $3, $4)";
    PayDistrict "payment: update district" = "update district set paid_cents = paid_cents + $1 where id = $2";
    PayDepot "payment: update depot" = "update depot set paid_cents = paid_cents + $1 where id = $2";

    FindCustomer rows(1.3, ["1|Ada|-2000"])
        "order-status: find customer by name" =
        "select id, first_name, balance_cents from customer where district_id = $1 and last_name = $2 order by first_name, id limit 50";
    LastOrder rows(1.0, ["1001|301|open|50000"])
        "order-status: read last order" =
        "select id, number, status, total_cents from customer_order where customer_id = $1 order by number desc limit 1";
    Lines rows(9.5, ["1|5|1|3|15000"])
        "read lines of order" =
        "select line, article_id, depot_id, quantity, amount_cents from order_line where order_id = $1 order by line limit 50";

    Oldest rows(1.0, ["241|1001"])
        "delivery: lock oldest open order" =
        "select number, order_id from open_order where district_id = $1 order by number limit 1 for update";
    Head rows(1.0, ["1|50000"])
        "delivery: read order" = "select customer_id, total_cents from customer_order where id = $1";
    Unqueue "delivery: take order off the queue" = "delete from open_order where district_id = $1 and number = $2";
    Deliver "delivery: update order" = "update customer_order set status = 'delivered' where id = $1";
    Charge "delivery: update customer" = "update customer set balance_cents = balance_cents + $1 where id = $2";

    Last rows(1.0, ["301"]) "stock-level: read district" = "select next_number from district where id = $1";
    Scarce rows(1.0, ["7"])
        "stock-level: count scarce articles" =
        "select count(distinct s.article_id) from customer_order o join order_line l on l.order_id = o.id \
         join stock s on s.depot_id = $1 and s.article_id = l.article_id \
         where o.district_id = $2 and o.number >= $3 and s.quantity < 20";
}
