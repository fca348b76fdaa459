//! Data-Maintenance as a procedure: the table of the round is told by a number.

use super::super::statements::House;
use super::body::Body;
use super::body::Kind::{Int, Text};

/// What each table's round says, in the order of the rounds; the twelfth looks at a watch list first.
const ROUNDS: [(House, &[&str]); 11] = [
    (House::MaintainGrant, &["p_text", "p_key"]),
    (House::MaintainAddress, &["p_text", "p_key"]),
    (House::MaintainArticle, &["p_text", "p_key"]),
    (House::MaintainCompany, &["p_text", "p_key"]),
    (House::MaintainCustomer, &["p_text", "p_key"]),
    (House::MaintainPrice, &["p_step", "p_symbol", "p_day"]),
    (House::MaintainExchange, &["p_text", "p_symbol"]),
    (House::MaintainFinancial, &["p_step", "p_key"]),
    (House::MaintainLevy, &["p_text", "p_key"]),
    (House::MaintainSecurity, &["p_step", "p_symbol"]),
    (House::MaintainPostal, &["p_text", "p_key"]),
];

/// The parameters by name, for the one who fills them in.
pub(in crate::brokerage) fn names(statement: House) -> &'static [&'static str] {
    ROUNDS.iter().find(|round| round.0 == statement).map_or(&["p_key"], |round| round.1)
}

pub(super) fn maintenance(body: &mut Body) {
    body.takes(Int, "p_round");
    body.takes(Text, "p_text");
    body.takes(Int, "p_step p_key");
    body.takes(Text, "p_symbol");
    body.takes(Int, "p_day");
    body.takes(Text, "p_new");
    body.holds(Int, "v_list v_first_list v_has");
    body.holds(Text, "v_symbol v_old");
    body.begin();
    for (round, (statement, arguments)) in ROUNDS.into_iter().enumerate() {
        body.when(format!("p_round = {round}"), |body| body.say(statement, arguments));
    }
    body.when(format!("p_round = {}", ROUNDS.len()), exchange);
    body.commit();
    body.tell();
}

/// Exchanges the first security of the list, unless the list has the new one already.
fn exchange(body: &mut Body) {
    body.set("v_has", "0");
    body.each(House::MaintainWatched, &["p_key"], &["v_list", "v_symbol"], |body| {
        body.when("v_first_list is null", |body| {
            body.set("v_first_list", "v_list");
            body.set("v_old", "v_symbol");
        });
        body.when("v_symbol = p_new", |body| body.set("v_has", "1"));
    });
    body.when("v_first_list is not null and v_has = 0", |body| {
        body.say(House::MaintainWatch, &["p_new", "v_first_list", "v_old"]);
    });
}
