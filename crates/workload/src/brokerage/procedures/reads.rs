//! The transactions that only read, as procedures.

use super::super::statements::{Desk, House, Shared};
use super::body::Body;
use super::{Procedure, ints, texts};

pub(super) fn status(mut body: Body) -> Procedure {
    body.begin();
    if body.house {
        body.give(House::StatusTrades, &["p_account"]);
        body.give(House::StatusOwner, &["p_account"]);
    } else {
        body.give(Desk::StatusTrades, &["p_account"]);
        body.give(Desk::StatusOwner, &["p_account"]);
    }
    body.commit();
    Procedure { parameters: ints(&["p_account"]), body }
}

/// Without a tax number the customer is known; without an account its trades are not asked for.
pub(super) fn position(mut body: Body) -> Procedure {
    let mut parameters = ints(&["p_customer"]);
    parameters.extend(texts(&["p_tax_id"]));
    parameters.extend(ints(&["p_account"]));
    body.ints(&["v_customer"]);
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
    Procedure { parameters, body }
}

/// One statement in each case, so that none needs a transaction around it.
pub(super) fn watch(mut body: Body) -> Procedure {
    if !body.house {
        body.give(Desk::WatchHoldings, &["p_account"]);
        return Procedure { parameters: ints(&["p_account"]), body };
    }
    for (way, statement) in [(0, House::WatchList), (1, House::WatchHoldings), (2, House::WatchIndustry)] {
        body.when(format!("p_way = {way}"), |body| body.give(statement, &["p_key", "p_day"]));
    }
    Procedure { parameters: ints(&["p_way", "p_key", "p_day"]), body }
}

pub(super) fn detail(mut body: Body) -> Procedure {
    let mut parameters = texts(&["p_symbol"]);
    parameters.extend(ints(&["p_from", "p_days", "p_articles"]));
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
    Procedure { parameters, body }
}

pub(super) fn volume(mut body: Body) -> Procedure {
    let names: Vec<String> = (1..=41).map(|number| format!("p_{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    body.give(House::VolumeOfBrokers, &names);
    Procedure { parameters: ints(&names), body }
}
