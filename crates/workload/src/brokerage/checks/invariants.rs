//! The invariants.
//!
//! What it does not do: it proves nothing about most texts; only what is counted, summed or moves from state to state.

use crate::brokerage::Preset;
use crate::brokerage::codes::{
    CANCELLED, CASH, COMPLETED, LIMIT_BUY, LIMIT_SELL, MARGIN, MARK, MARKET_BUY, PENDING, SETTLEMENT_DAYS, STOP_LOSS,
    SUBMITTED,
};
use crate::brokerage::scale::CALENDAR_DAY_US;
use crate::dataset::Invariant;

/// The invariants of a preset.
pub fn invariants(preset: Preset) -> Vec<Invariant> {
    let house = (preset == Preset::House).then_some(include_str!("house.sql"));
    let files = [include_str!("both.sql")].into_iter().chain(house);
    files.flat_map(|file| Invariant::all(file, &codes())).collect()
}

/// What stands for `{completed}` and its like.
fn codes() -> Vec<(&'static str, String)> {
    let codes = [
        ("{completed}", COMPLETED),
        ("{pending}", PENDING),
        ("{submitted}", SUBMITTED),
        ("{cancelled}", CANCELLED),
        ("{market_buy}", MARKET_BUY),
        ("{limit_buy}", LIMIT_BUY),
        ("{limit_sell}", LIMIT_SELL),
        ("{stop_loss}", STOP_LOSS),
        ("{cash}", CASH),
        ("{margin}", MARGIN),
    ];
    let numbers = [("{days}", SETTLEMENT_DAYS), ("{day}", CALENDAR_DAY_US)];
    let edited = [("{cash_edited}", CASH), ("{margin_edited}", MARGIN)];
    let edited = edited.map(|(name, kind)| (name, format!("'{kind}{MARK}'")));
    let codes = codes.map(|(name, code)| (name, format!("'{code}'"))).into_iter().chain(edited);
    codes.chain(numbers.map(|(name, number)| (name, number.to_string()))).collect()
}
