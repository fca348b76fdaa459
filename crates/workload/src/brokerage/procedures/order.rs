//! Trade-Order as a procedure; see [`Order`](super::super::steps) for why it does what it does.

use super::super::codes;
use super::super::statements::{House, Shared};
use super::body::Kind::{Int, Long, Text};
use super::body::{Body, List, NUMBER, number, padded};

/// Symbol, quantity and price of what the account holds.
const HOLDINGS: List = List { variable: "v_holdings", width: 16 + 2 * NUMBER };
/// Who else may order for the account.
const GRANTS: List = List { variable: "v_grants", width: 50 };

pub(super) fn order(body: &mut Body) {
    body.takes(Int, "p_number p_now p_account");
    body.takes(Text, "p_symbol");
    body.takes(Int, "p_quantity p_sells p_limited p_stops p_lifo p_cash p_another");
    body.takes(Int, "p_holding p_grant p_away p_keeps");
    body.holds(Int, "v_broker v_tax_status v_balance v_customer v_tier v_company v_price v_quantity");
    body.holds(Int, "v_sells v_held v_held_price v_chosen v_away v_left v_sold v_lot_price");
    body.holds(Int, "v_lot_quantity v_gain v_fee v_commission v_levy v_levies v_tax");
    body.holds(Text, "v_name v_first v_last v_broker_name v_held_symbol v_security v_exchange");
    body.holds(Text, "v_symbol v_placed_by v_tax_id v_rights v_order_type v_status");
    body.holds(Long, &[HOLDINGS.variable, GRANTS.variable].join(" "));
    body.begin();
    parties(body);
    body.when("v_name is not null and v_security is not null", |body| {
        choose(body);
        gain(body);
        charge(body);
        write(body);
        body.outcome(&["v_symbol"]);
    });
    // One who thinks better of it takes everything back from outside.
    body.commit_if("p_keeps = 1");
    body.tell();
}

fn parties(body: &mut Body) {
    let account = ["v_name", "v_broker", "v_tax_status", "v_balance", "v_customer", "v_tier"];
    let names = ["v_first", "v_last", "v_broker_name"];
    body.read(Shared::OrderAccount, &["p_account"], &[&account[..], &names].concat());
    body.each(Shared::OrderHoldings, &["p_account"], &["v_held_symbol", "v_held", "v_held_price"], |body| {
        let record = [padded("v_held_symbol", 16), number(body, "v_held"), number(body, "v_held_price")];
        HOLDINGS.append(body, &record);
    });
    body.read(Shared::OrderSecurity, &["p_symbol"], &["v_security", "v_exchange", "v_company", "v_price"]);
    body.set("v_placed_by", "concat(v_first, ' ', v_last)");
    if !body.house {
        return;
    }
    // The names of the account's owner are used up by now.
    body.each(House::OrderGrants, &["p_account"], &["v_tax_id", "v_rights", "v_first", "v_last"], |body| {
        GRANTS.append(body, &[padded("concat(v_first, ' ', v_last)", GRANTS.width)]);
    });
    let count = GRANTS.count(body);
    body.when(format!("p_another = 1 and {count} > 0"), |body| {
        body.set("v_chosen", format!("mod(p_grant, {count})"));
        body.set("v_placed_by", GRANTS.text(body, "v_chosen", 0, GRANTS.width));
    });
}

/// What is ordered, and at which price.
fn choose(body: &mut Body) {
    let count = HOLDINGS.count(body);
    body.set("v_symbol", "p_symbol");
    body.set("v_quantity", "p_quantity");
    body.set("v_sells", format!("case when p_sells = 1 and {count} > 0 then 1 else 0 end"));
    body.when("v_sells = 1", |body| {
        body.set("v_chosen", format!("mod(p_holding, {count})"));
        let symbol = HOLDINGS.text(body, "v_chosen", 0, 16);
        let (held, price) = (HOLDINGS.number(body, "v_chosen", 16), HOLDINGS.number(body, "v_chosen", 16 + NUMBER));
        body.set("v_symbol", symbol);
        body.set("v_quantity", format!("least(p_quantity, {held})"));
        body.set("v_price", price);
    });
    let [limit_sell, stop_loss] = [codes::LIMIT_SELL, codes::STOP_LOSS];
    let sale = format!(
        "case when p_limited = 0 then '{}' when p_stops = 1 then '{stop_loss}' else '{limit_sell}' end",
        codes::MARKET_SELL
    );
    let purchase = format!("case when p_limited = 0 then '{}' else '{}' end", codes::MARKET_BUY, codes::LIMIT_BUY);
    body.set("v_order_type", format!("case when v_sells = 1 then {sale} else {purchase} end"));
    body.when("p_limited = 1", |body| {
        body.set("v_away", body.language.basis_points("v_price", "p_away"));
        let away = format!(
            "case when v_order_type = '{limit_sell}' then v_price + v_away else greatest(v_price - v_away, 1) end"
        );
        body.set("v_price", away);
    });
}

/// What is left of a sale after what the lots had cost.
fn gain(body: &mut Body) {
    body.set("v_gain", "0");
    body.set("v_left", "v_quantity");
    let lots = |body: &mut Body, statement: Shared| {
        body.each(statement, &["p_account", "v_symbol"], &["v_lot_price", "v_lot_quantity"], |body| {
            body.set("v_sold", "least(v_left, v_lot_quantity)");
            body.set("v_gain", "v_gain + v_sold * (v_price - v_lot_price)");
            body.set("v_left", "v_left - v_sold");
        });
    };
    body.when("v_sells = 1", |body| {
        body.choose(
            "p_lifo = 1",
            |body| lots(body, Shared::OrderNewestLots),
            |body| lots(body, Shared::OrderOldestLots),
        );
        body.set("v_gain", "greatest(v_gain, 0)");
    });
}

fn charge(body: &mut Body) {
    body.set("v_fee", codes::DESK_FEE_CENTS.to_string());
    body.set("v_commission", codes::DESK_COMMISSION_BP.to_string());
    body.set("v_levies", codes::DESK_LEVY_BP.to_string());
    if body.house {
        body.set("v_levies", "0");
        body.read(House::OrderFee, &["v_tier", "v_order_type"], &["v_fee"]);
        let asked = ["v_tier", "v_order_type", "v_symbol", "v_quantity"];
        body.read(House::OrderCommission, &asked, &["v_commission"]);
        body.each(House::OrderLevies, &["v_customer"], &["v_levy"], |body| {
            body.set("v_levies", "v_levies + v_levy");
        });
    }
    let tax = body.language.basis_points("v_gain", "v_levies");
    body.set("v_tax", format!("case when v_tax_status <> 0 then {tax} else 0 end"));
    body.set("v_commission", body.language.basis_points("v_price * v_quantity", "coalesce(v_commission, 0)"));
}

fn write(body: &mut Body) {
    let (pending, submitted) = (codes::PENDING, codes::SUBMITTED);
    body.set("v_status", format!("case when p_limited = 1 then '{pending}' else '{submitted}' end"));
    let what = ["p_number", "p_now", "v_status", "v_order_type", "p_cash", "v_symbol", "v_quantity", "v_price"];
    let who = ["p_account", "v_placed_by", "coalesce(v_fee, 0)", "v_commission", "v_tax", "p_lifo"];
    body.say(Shared::InsertTrade, &[&what[..], &who].concat());
    body.say(Shared::InsertEvent, &["p_number", "v_status", "p_now"]);
    body.when("p_limited = 1", |body| {
        let order = ["p_number", "v_order_type", "v_symbol", "v_quantity", "v_price", "v_broker"];
        body.say(Shared::InsertPending, &order);
    });
}
