//! Trade-Result as a procedure; see [`Fill`](super::super::steps) for why it does what it does.

use super::super::codes;
use super::super::scale::CALENDAR_DAY_US;
use super::super::statements::{House, Shared};
use super::body::Kind::{Int, Long, Text};
use super::body::{Body, List, NUMBER, number};

/// Number, quantity before and quantity after of the lots that a sale uses up, in the order of numbers.
const USED: List = List { variable: "v_used", width: 3 * NUMBER };

pub(super) fn fill(body: &mut Body) {
    body.takes(Int, "p_trade p_now");
    body.holds(Int, "v_account v_quantity v_bid v_cash v_lifo v_fee v_sells v_customer v_broker");
    body.holds(Int, "v_tax_status v_held v_quoted v_price v_commission v_levy v_levies v_left");
    body.holds(Int, "v_sold v_cost v_lot v_lot_price v_lot_quantity v_slot v_place v_before");
    body.holds(Int, "v_after v_value v_tax v_amount");
    body.holds(Text, "v_symbol v_order_type v_status v_security v_verb");
    body.holds(Long, &[USED.variable, "v_record"].join(" "));
    body.begin();
    let trade =
        ["v_account", "v_symbol", "v_order_type", "v_quantity", "v_bid", "v_cash", "v_lifo", "v_status", "v_fee"];
    body.read(Shared::FillTrade, &["p_trade"], &trade);
    body.when(format!("v_status = '{}'", codes::SUBMITTED), |body| {
        ask(body);
        body.choose("v_sells = 1 and v_quantity = 0", cancel, |body| {
            money(body);
            body.choose("v_sells = 1", sell, buy);
            book(body);
            body.outcome(&["v_symbol", "v_quantity"]);
        });
    });
    body.commit();
    body.tell();
}

fn ask(body: &mut Body) {
    let [market, limit, stop] = [codes::MARKET_SELL, codes::LIMIT_SELL, codes::STOP_LOSS];
    body.set("v_sells", format!("case when v_order_type in ('{market}', '{limit}', '{stop}') then 1 else 0 end"));
    body.read(Shared::FillAccount, &["v_account"], &["v_customer", "v_broker", "v_tax_status"]);
    body.read(Shared::FillPosition, &["v_account", "v_symbol"], &["v_held"]);
    body.read(Shared::FillQuote, &["v_symbol"], &["v_quoted", "v_security"]);
    body.set("v_commission", codes::DESK_COMMISSION_BP.to_string());
    body.set("v_levies", codes::DESK_LEVY_BP.to_string());
    if body.house {
        body.set("v_levies", "0");
        let asked = ["v_account", "v_symbol", "v_order_type", "v_quantity"];
        body.read(House::FillCommission, &asked, &["v_commission"]);
        body.each(House::FillLevies, &["v_account"], &["v_levy"], |body| {
            body.set("v_levies", "v_levies + v_levy");
        });
    }
    body.set("v_cost", "0");
    body.when("v_sells = 1", |body| {
        body.set("v_quantity", "least(v_quantity, coalesce(v_held, 0))");
        body.set("v_left", "v_quantity");
        body.choose(
            "v_lifo = 1",
            |body| use_lots(body, Shared::FillNewestLots),
            |body| use_lots(body, Shared::FillOldestLots),
        );
    });
}

fn use_lots(body: &mut Body, statement: Shared) {
    body.each(statement, &["v_account", "v_symbol"], &["v_lot", "v_lot_price", "v_lot_quantity"], |body| {
        body.set("v_sold", "least(v_left, v_lot_quantity)");
        body.when("v_sold > 0", |body| {
            body.set("v_cost", "v_cost + v_sold * v_lot_price");
            body.set("v_left", "v_left - v_sold");
            let record = ["v_lot", "v_lot_quantity", "v_lot_quantity - v_sold"].map(|value| number(body, value));
            USED.insert(body, &record, false);
        });
    });
}

fn cancel(body: &mut Body) {
    let cancelled = format!("'{}'", codes::CANCELLED);
    body.say(Shared::SetStatus, &[&cancelled, "p_trade"]);
    body.say(Shared::InsertEvent, &["p_trade", &cancelled, "p_now"]);
}

fn money(body: &mut Body) {
    let (buy, sell) = (codes::LIMIT_BUY, codes::LIMIT_SELL);
    let limits = format!("when '{buy}' then least(v_quoted, v_bid) when '{sell}' then greatest(v_quoted, v_bid)");
    body.set("v_price", format!("case v_order_type {limits} else v_quoted end"));
    body.set("v_value", "v_price * v_quantity");
    body.set("v_commission", body.language.basis_points("v_value", "coalesce(v_commission, 0)"));
    let tax = body.language.basis_points("v_value - v_cost", "v_levies");
    let taxed = "v_sells = 1 and v_tax_status <> 0 and v_value > v_cost";
    body.set("v_tax", format!("case when {taxed} then {tax} else 0 end"));
    let (gross, withheld) =
        ("case when v_sells = 1 then v_value else -v_value end", "case when v_tax_status = 1 then v_tax else 0 end");
    body.set("v_amount", format!("({gross}) - v_fee - v_commission - ({withheld})"));
}

fn buy(body: &mut Body) {
    body.choose(
        "v_held is null",
        |body| body.say(Shared::InsertPosition, &["v_account", "v_symbol", "v_quantity"]),
        |body| body.say(Shared::UpdatePosition, &["v_held + v_quantity", "v_account", "v_symbol"]),
    );
    body.say(Shared::InsertLot, &["p_trade", "v_account", "v_symbol", "p_now", "v_price", "v_quantity"]);
    if body.house {
        body.say(House::InsertLotChange, &["p_trade", "p_trade", "0", "v_quantity"]);
    }
}

fn sell(body: &mut Body) {
    body.set("v_place", "0");
    let count = USED.count(body);
    body.repeat(format!("v_place < {count}"), |body| {
        for (variable, from) in [("v_lot", 0), ("v_before", NUMBER), ("v_after", 2 * NUMBER)] {
            body.set(variable, USED.number(body, "v_place", from));
        }
        body.choose(
            "v_after = 0",
            |body| body.say(Shared::DeleteLot, &["v_lot"]),
            |body| body.say(Shared::UpdateLot, &["v_after", "v_lot"]),
        );
        if body.house {
            body.say(House::InsertLotChange, &["v_lot", "p_trade", "v_before", "v_after"]);
        }
        body.set("v_place", "v_place + 1");
    });
    body.choose(
        "v_held = v_quantity",
        |body| body.say(Shared::DeletePosition, &["v_account", "v_symbol"]),
        |body| body.say(Shared::UpdatePosition, &["v_held - v_quantity", "v_account", "v_symbol"]),
    );
}

fn book(body: &mut Body) {
    let (completed, language) = (format!("'{}'", codes::COMPLETED), body.language);
    let trade = [&completed, "v_price", "v_quantity", "v_commission", "v_tax", "p_trade"];
    body.say(Shared::CompleteTrade, &trade);
    body.say(Shared::InsertEvent, &["p_trade", &completed, "p_now"]);
    let kind = format!("case when v_cash <> 0 then '{}' else '{}' end", codes::CASH, codes::MARGIN);
    let due = format!("{} + {}", language.divided("p_now", &CALENDAR_DAY_US.to_string()), codes::SETTLEMENT_DAYS);
    body.say(Shared::InsertSettlement, &["p_trade", &kind, &due, "v_amount"]);
    body.when("v_cash <> 0", |body| {
        body.set("v_verb", "case when v_sells = 1 then 'Sold' else 'Bought' end");
        let text = format!("concat(v_verb, ' ', {}, ' of ', v_security)", language.text("v_quantity"));
        body.say(Shared::InsertCash, &["p_trade", "p_now", "v_amount", &text]);
        body.say(Shared::AddBalance, &["v_amount", "v_account"]);
    });
    body.say(Shared::AddBroker, &["v_commission", "v_broker"]);
}
