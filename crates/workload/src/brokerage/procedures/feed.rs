//! Market-Feed as a procedure; see [`Feed`](super::super::steps) for why it does what it does.

use super::super::codes;
use super::super::statements::Shared;
use super::body::Kind::{Int, Long, Text};
use super::body::{Body, List, NUMBER, number, padded};

/// Letters of a symbol in a record.
pub(in crate::brokerage) const SYMBOL: usize = 16;
/// Letters of a number in a record.
pub(in crate::brokerage) const DIGITS: usize = NUMBER;

/// Symbol and volume of each quote, as they are handed over.
const TICKS: List = List { variable: "p_ticks", width: SYMBOL + NUMBER };
/// How far each price moves, in hundredths of a percent and 100 more.
const MOVES: List = List { variable: "p_moves", width: NUMBER };
/// Symbol, volume and new price of each quote that was found.
const QUOTES: List = List { variable: "v_quotes", width: SYMBOL + 2 * NUMBER };
/// Number and symbol of the orders that are fired, in the order of numbers.
const FIRED: List = List { variable: "v_fired", width: NUMBER + SYMBOL };

pub(super) fn feed(body: &mut Body) {
    body.takes(Int, "p_now");
    body.takes(Long, &[TICKS.variable, MOVES.variable].join(" "));
    body.holds(Int, "v_place v_found v_price v_open v_volume v_trade v_slot");
    body.holds(Text, "v_symbol");
    body.holds(Long, &[QUOTES.variable, FIRED.variable, "v_record"].join(" "));
    body.begin();
    lock(body);
    quote(body);
    fire(body);
    body.commit();
    body.tell();
}

fn lock(body: &mut Body) {
    body.set("v_place", "0");
    body.set("v_found", "0");
    let count = TICKS.count(body);
    body.repeat(format!("v_place < {count}"), |body| {
        let (symbol, volume) = (TICKS.text(body, "v_place", 0, SYMBOL), TICKS.number(body, "v_place", SYMBOL));
        body.set("v_symbol", symbol);
        body.read(Shared::FeedQuote, &["v_symbol"], &["v_price", "v_open"]);
        body.when("v_price is not null", |body| {
            let way = format!("v_price * ({} - 100)", MOVES.number(body, "v_found", 0));
            let (step, back) = (body.language.divided(&way, "10000"), body.language.divided("v_open - v_price", "16"));
            body.set("v_price", format!("greatest(v_price + {step} + {back}, 1)"));
            let record = [padded("v_symbol", SYMBOL), number(body, &volume), number(body, "v_price")];
            QUOTES.append(body, &record);
            body.set("v_found", "v_found + 1");
        });
        body.set("v_place", "v_place + 1");
    });
}

fn quote(body: &mut Body) {
    body.set("v_place", "0");
    body.repeat("v_place < v_found", |body| {
        body.set("v_symbol", QUOTES.text(body, "v_place", 0, SYMBOL));
        for (variable, from) in [("v_volume", SYMBOL), ("v_price", SYMBOL + NUMBER)] {
            body.set(variable, QUOTES.number(body, "v_place", from));
        }
        body.say(Shared::UpdateQuote, &["p_now", "v_price", "v_volume", "v_symbol"]);
        body.each(Shared::FeedPending, &["v_symbol", "v_price"], &["v_trade"], |body| {
            let record = [number(body, "v_trade"), padded("v_symbol", SYMBOL)];
            FIRED.insert(body, &record, false);
        });
        body.set("v_place", "v_place + 1");
    });
}

fn fire(body: &mut Body) {
    let submitted = format!("'{}'", codes::SUBMITTED);
    body.set("v_place", "0");
    let count = FIRED.count(body);
    body.repeat(format!("v_place < {count}"), |body| {
        let (trade, symbol) = (FIRED.number(body, "v_place", 0), FIRED.text(body, "v_place", NUMBER, SYMBOL));
        body.set("v_trade", trade);
        body.set("v_symbol", symbol);
        body.say(Shared::DeletePending, &["v_trade"]);
        body.say(Shared::SetStatus, &[&submitted, "v_trade"]);
        body.say(Shared::InsertEvent, &["v_trade", &submitted, "p_now"]);
        body.outcome(&["v_trade", "v_symbol"]);
        body.set("v_place", "v_place + 1");
    });
}
