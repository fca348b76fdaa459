//! The transactions that only read, as procedures.

use super::super::statements::{Desk, House, Shared};
use super::body::Body;
use super::body::Kind::{Int, Text};

pub(super) fn status(body: &mut Body) {
    body.takes(Int, "p_account");
    body.begin();
    if body.house {
        body.give(House::StatusTrades, &["p_account"]);
        body.give(House::StatusOwner, &["p_account"]);
    } else {
        body.give(Desk::StatusTrades, &["p_account"]);
        body.give(Desk::StatusOwner, &["p_account"]);
    }
    body.commit();
}

/// Without a tax number the customer is known; without an account its trades are not asked for.
pub(super) fn position(body: &mut Body) {
    body.takes(Int, "p_customer");
    body.takes(Text, "p_tax_id");
    body.takes(Int, "p_account");
    body.holds(Int, "v_customer");
    body.begin();
    body.set("v_customer", "p_customer");
    body.when("p_tax_id is not null", |body| {
        body.read(Shared::CustomerByTax, &["p_tax_id"], &["v_customer"]);
    });
    body.tell();
    body.when("v_customer is not null", |body| {
        body.give(Shared::CustomerRow, &["v_customer"]);
        body.give(Shared::CustomerAccounts, &["v_customer"]);
        body.when("p_account is not null", |body| body.give(Shared::CustomerTrades, &["p_account"]));
    });
    body.commit();
}

/// One statement in each case, so that none needs a transaction around it.
pub(super) fn watch(body: &mut Body) {
    if !body.house {
        body.takes(Int, "p_account");
        return body.give(Desk::WatchHoldings, &["p_account"]);
    }
    body.takes(Int, "p_way p_key p_day");
    for (way, statement) in [(0, House::WatchList), (1, House::WatchHoldings), (2, House::WatchIndustry)] {
        body.when(format!("p_way = {way}"), |body| body.give(statement, &["p_key", "p_day"]));
    }
}

pub(super) fn detail(body: &mut Body) {
    body.takes(Text, "p_symbol");
    body.takes(Int, "p_from p_days p_articles");
    body.begin();
    for statement in [House::DetailSecurity, House::DetailRivals, House::DetailFinancials] {
        body.give(statement, &["p_symbol"]);
    }
    body.give(House::DetailPrices, &["p_symbol", "p_from", "p_days"]);
    body.give(House::DetailQuote, &["p_symbol"]);
    body.choose(
        "p_articles = 1",
        |body| body.give(House::DetailArticles, &["p_symbol"]),
        |body| body.give(House::DetailHeadlines, &["p_symbol"]),
    );
    body.commit();
}

pub(super) fn volume(body: &mut Body) {
    let names: Vec<String> = (1..=41).map(|number| format!("p_{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    body.takes(Int, &names.join(" "));
    body.give(House::VolumeOfBrokers, &names);
}
