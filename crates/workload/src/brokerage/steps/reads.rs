//! The reads of the mix that know all their questions beforehand: Trade-Status, Market-Watch, Security-Detail and
//! Broker-Volume.
//!
//! What it does not do: it does not look at the answers.

use super::super::mix::Class;
use super::super::scale::{LAST_DAY, PRICE_DAYS};
use super::super::statements::{Desk, House};
use super::{Inputs, Machine};
use crate::transaction::texts::Place;
use crate::transaction::{Answers, Ask, Batch, Step, Value};

/// Brokers of one Broker-Volume: at least and at most.
const BROKERS: (i64, i64) = (20, 40);

/// A read on its way.
#[derive(Debug)]
pub(super) struct Read {
    ask: Ask,
    class: Class,
    house: bool,
}

impl Read {
    pub(super) fn new(inputs: Inputs) -> Read {
        let (class, house) = (inputs.class, inputs.house());
        let ask = match class {
            Class::Status => status(inputs),
            Class::Watch => watch(inputs),
            Class::Detail => detail(inputs),
            _ => volume(inputs),
        };
        Read { ask, class, house }
    }
}

impl Machine for Read {
    fn step(&mut self, _answers: &Answers, batch: &mut Batch) -> Step {
        self.ask.step(batch)
    }

    /// Mostly the inputs of the first question, which are those of all.
    fn parameters(&mut self) -> Vec<Value> {
        let questions = std::mem::take(&mut self.ask).questions();
        let asked = |statement: House| questions.iter().position(|question| question.0 == statement.place());
        let of = |nth: usize| questions.get(nth).map(|question| question.1.clone()).unwrap_or_default();
        match self.class {
            Class::Watch if self.house => {
                let ways = [House::WatchList, House::WatchHoldings, House::WatchIndustry];
                let way = ways.iter().position(|way| asked(*way).is_some()).unwrap_or(0);
                [Value::Int(way as i64)].into_iter().chain(of(0)).collect()
            }
            // Symbol, first day and days of the prices, and whether articles are read.
            Class::Detail => {
                let prices = asked(House::DetailPrices).map(of).unwrap_or_default();
                let articles = Value::from(i64::from(asked(House::DetailArticles).is_some()));
                prices.into_iter().chain([articles]).collect()
            }
            _ => of(0),
        }
    }
}

/// The 50 newest trades of an account.
fn status(inputs: Inputs) -> Ask {
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
fn watch(inputs: Inputs) -> Ask {
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
fn detail(inputs: Inputs) -> Ask {
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
fn volume(inputs: Inputs) -> Ask {
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
