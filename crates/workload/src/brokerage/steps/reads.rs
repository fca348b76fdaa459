//! The reads of the mix that know all their questions beforehand: Trade-Status, Market-Watch, Security-Detail and
//! Broker-Volume.
//!
//! What it does not do: it does not look at the answers.

use super::super::scale::{LAST_DAY, PRICE_DAYS};
use super::super::statements::{Desk, House};
use super::Inputs;
use crate::transaction::{Ask, Value};

/// Brokers of one Broker-Volume: at least and at most.
const BROKERS: (i64, i64) = (20, 40);

/// The 50 newest trades of an account.
pub(super) fn status(inputs: Inputs) -> Ask {
    let house = inputs.house();
    let Inputs { scale, mut draws, .. } = inputs;
    let account = Value::from(draws.account(scale));
    match house {
        true => Ask::default().with(House::StatusTrades, [account.clone()]).with(House::StatusOwner, [account]),
        false => Ask::default().with(Desk::StatusTrades, [account.clone()]).with(Desk::StatusOwner, [account]),
    }
}

/// Securities with their prices now and then: those on a watch list (60 of a hundred), those that an account holds (35) or
/// those of an industry (5). The small preset knows holdings only, and the prices at which the day opened.
pub(super) fn watch(inputs: Inputs) -> Ask {
    let house = inputs.house();
    let Inputs { scale, mut draws, .. } = inputs;
    let (which, account) = (draws.below(100), Value::from(draws.account(scale)));
    if !house {
        return Ask::default().with(Desk::WatchHoldings, [account]);
    }
    let day = Value::from(LAST_DAY - draws.between(1, PRICE_DAYS));
    match which {
        0..60 => Ask::default().with(House::WatchList, [(draws.customer(scale) as i64).into(), day]),
        60..95 => Ask::default().with(House::WatchHoldings, [account, day]),
        _ => Ask::default().with(House::WatchIndustry, [draws.between(1, scale.companies() as i64).into(), day]),
    }
}

/// All about one security, with 5 to 20 days of prices; one in a hundred reads the articles themselves.
pub(super) fn detail(inputs: Inputs) -> Ask {
    let Inputs { scale, mut draws, .. } = inputs;
    let symbol = Value::from(draws.symbol(scale));
    let from = Value::from(LAST_DAY - draws.between(30, PRICE_DAYS));
    let days = Value::from(draws.between(5, 20));
    let articles = if draws.percent(1) { House::DetailArticles } else { House::DetailHeadlines };
    Ask::default()
        .with(House::DetailSecurity, [symbol.clone()])
        .with(House::DetailRivals, [symbol.clone()])
        .with(House::DetailFinancials, [symbol.clone()])
        .with(House::DetailPrices, [symbol.clone(), from, days])
        .with(House::DetailQuote, [symbol.clone()])
        .with(articles, [symbol])
}

/// The value of waiting orders of 20 to 40 brokers in the sector of a company.
pub(super) fn volume(inputs: Inputs) -> Ask {
    let Inputs { scale, mut draws, .. } = inputs;
    let company = draws.between(1, scale.companies() as i64);
    let count = draws.between(BROKERS.0, BROKERS.1).min(scale.brokers() as i64) as u64;
    let first = draws.below(scale.brokers());
    // The list has one length, so that it is one statement; a short one repeats its brokers.
    let broker = |place: u64| Value::from(1 + ((first + place % count) % scale.brokers()) as i64);
    let parameters: [Value; 41] =
        std::array::from_fn(|place| if place == 0 { company.into() } else { broker(place as u64 - 1) });
    Ask::default().with(House::VolumeOfBrokers, parameters)
}
