//! Trade-Lookup and Trade-Update as procedures: old trades are found in the same ways, then read or edited.

use super::super::codes::{LOOKUP_TRADES, MARK};
use super::super::statements::House;
use super::body::Kind::{Int, Long, Text};
use super::body::{Body, List, NUMBER, number};

/// Numbers of the trades that were found, ascending.
const FOUND_TRADES: List = List { variable: "v_found", width: NUMBER };

/// Names of the variables that hold one number each.
fn numbers() -> Vec<String> {
    (1..=LOOKUP_TRADES).map(|place| format!("v_n{place}")).collect()
}

/// Way (0 by numbers, 1 by account, 2 by symbol, 3 by lots), its inputs, and the numbers where they are known.
fn begin(body: &mut Body) {
    body.takes(Int, "p_way p_key p_from");
    body.takes(Text, "p_symbol");
    body.takes(Long, "p_numbers");
    body.holds(Int, "v_trade v_lot v_before v_after v_slot");
    body.holds(Int, &numbers().join(" "));
    body.holds(Text, "v_text");
    body.holds(Long, &[FOUND_TRADES.variable, "v_record"].join(" "));
    body.begin();
    body.set(FOUND_TRADES.variable, "p_numbers");
}

fn find(body: &mut Body, lots: bool) {
    let keep = |body: &mut Body| {
        let record = [number(body, "v_trade")];
        FOUND_TRADES.insert(body, &record, true);
    };
    body.when("p_way = 1", |body| body.each(House::TradesOfAccount, &["p_key", "p_from"], &["v_trade"], keep));
    body.when("p_way = 2", |body| body.each(House::TradesOfSymbol, &["p_symbol", "p_from"], &["v_trade"], keep));
    if lots {
        let row = ["v_lot", "v_trade", "v_before", "v_after"];
        body.when("p_way = 3", |body| body.each(House::LookupLots, &["p_key"], &row, keep));
    }
    body.tell();
}

/// Does something with the numbers; a short list repeats its last.
fn with_numbers(body: &mut Body, what: impl FnOnce(&mut Body, &[&str])) {
    let count = FOUND_TRADES.count(body);
    body.when(format!("{FOUND_VARIABLE} <> ''"), |body| {
        let names = numbers();
        for (place, name) in names.iter().enumerate() {
            body.set(name, FOUND_TRADES.number(body, &format!("least({place}, {count} - 1)"), 0));
        }
        what(body, &names.iter().map(String::as_str).collect::<Vec<_>>());
    });
}

const FOUND_VARIABLE: &str = FOUND_TRADES.variable;

pub(super) fn lookup(body: &mut Body) {
    begin(body);
    find(body, true);
    with_numbers(body, |body, numbers| {
        body.give(House::LookupTrades, numbers);
        body.give(House::LookupEvents, numbers);
    });
    body.commit();
}

pub(super) fn update(body: &mut Body) {
    begin(body);
    find(body, false);
    with_numbers(body, |body, numbers| {
        body.give(House::LookupEvents, numbers);
        for (way, lock, write, most) in [
            (0, House::UpdateLockTrades, House::UpdatePlacedBy, 50),
            (1, House::UpdateLockSettlements, House::UpdateKind, 40),
            (2, House::UpdateLockCash, House::UpdateDescription, 100),
        ] {
            body.when(format!("p_way = {way}"), |body| {
                body.each(lock, numbers, &["v_trade", "v_text"], |body| {
                    let text = marked(most);
                    body.say(write, &[&text, "v_trade"]);
                });
            });
        }
    });
    body.commit();
    body.tell();
}

/// The text with the mark, or without when it had it; as it is when there is no room.
fn marked(most: usize) -> String {
    let length = MARK.len();
    format!(
        "case when right(v_text, {length}) = '{MARK}' then left(v_text, char_length(v_text) - {length}) \
         when char_length(v_text) + {length} <= {most} then concat(v_text, '{MARK}') else v_text end"
    )
}
