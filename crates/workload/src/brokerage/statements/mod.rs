//! The statements of the brokerage house, each with a name for profiles.
//!
//! The one idea: what both presets say comes first, so that it has one place in both.
//!
//! What it does not do: it knows no engine's own SQL.

use super::{Preset, Scale, codes};
use crate::transaction::texts::{List, filled, list};
use crate::transaction::{Sample, Statement};

// Orders, fills, quotes and the small reads over the desk's twelve tables.
list! { Shared from 0, SHARED in "both.sql":
    OrderAccount OrderHoldings OrderSecurity OrderOldestLots OrderNewestLots InsertTrade InsertEvent
    InsertPending FillTrade FillAccount FillPosition FillOldestLots FillNewestLots FillQuote InsertLot
    UpdateLot DeleteLot InsertPosition UpdatePosition DeletePosition CompleteTrade InsertSettlement
    InsertCash AddBalance AddBroker FeedQuote UpdateQuote FeedPending SetStatus DeletePending CustomerByTax
    CustomerRow CustomerAccounts CustomerTrades
}

// Reads that the house does over more tables.
list! { Desk from SHARED.ids.len(), DESK in "desk.sql":
    StatusTrades StatusOwner WatchHoldings
}

// Prices of the house, research, history, and the quiet tables.
list! { House from SHARED.ids.len(), HOUSE in "house.sql":
    OrderGrants OrderFee OrderCommission OrderLevies FillCommission FillLevies InsertLotChange StatusTrades
    StatusOwner WatchList WatchHoldings WatchIndustry DetailSecurity DetailRivals DetailFinancials
    DetailPrices DetailQuote DetailHeadlines DetailArticles TradesOfAccount TradesOfSymbol LookupTrades
    LookupEvents LookupLots VolumeOfBrokers UpdateLockTrades UpdateLockSettlements UpdateLockCash
    UpdatePlacedBy UpdateKind UpdateDescription MaintainGrant MaintainAddress MaintainArticle
    MaintainCompany MaintainCustomer MaintainPrice MaintainExchange MaintainFinancial MaintainLevy
    MaintainSecurity MaintainPostal MaintainWatched MaintainWatch
}

fn lists(preset: Preset) -> [List; 2] {
    let own = match preset {
        Preset::Desk => DESK,
        Preset::House => HOUSE,
    };
    [SHARED, own]
}

/// The statements that [`Brokerage`](super::Brokerage) calls, in the order of their places.
pub fn statements(preset: Preset) -> Vec<Statement> {
    lists(preset).into_iter().flat_map(List::statements).collect()
}

/// What the same statements would give on a data set of about this shape, for a database that holds none: one entry a
/// statement, nothing for those without rows.
pub fn samples(preset: Preset) -> Vec<Option<Sample>> {
    lists(preset).into_iter().flat_map(List::samples).collect()
}

/// The clean-up before a run, one transaction: orders that an earlier run left in the market are cancelled. It reaches
/// only trades of runs; those of the history are all completed.
pub fn cleanup_statements(scale: &Scale) -> Vec<String> {
    let (pending, submitted, cancelled) = (codes::PENDING, codes::SUBMITTED, codes::CANCELLED);
    let codes = [("{pending}", pending), ("{submitted}", submitted), ("{cancelled}", cancelled)];
    let numbers = [("{first}", scale.first_new_trade() as i64), ("{end}", super::scale::NOW_US)];
    let codes = codes.map(|(name, code)| (name, code.to_owned())).into_iter();
    let texts: Vec<_> = codes.chain(numbers.map(|(name, number)| (name, number.to_string()))).collect();
    filled(include_str!("cleanup.sql"), &texts)
}
