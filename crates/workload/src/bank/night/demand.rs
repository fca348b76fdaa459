//! What the pieces of a bank's night ask of a database, whatever it takes for them.
//!
//! The one idea: a piece goes over sets of rows, and how many follows from accounts and days: an account has a balance and, on the
//! mean, an item for each day of the period.
//!
//! What it does not do: it knows no account whose interest or charges are nothing.

use super::Spec;
use crate::bank::scale::PRODUCTS;
use crate::kind::Demand;

/// Of each class, in their order.
pub(super) fn demands(spec: &Spec) -> [Demand; 3] {
    let [accounts, days, branches] = [spec.scale.accounts, spec.scale.days, spec.scale.branches()].map(|n| n as f64);
    let (settled, of_branch) = (accounts / spec.spans() as f64, accounts / branches);
    // Those of customers and of firms.
    let totals = (PRODUCTS + 1) as f64 * days;
    [
        // Settlement, account, balance, two items and a statement; two orders and the own side of each.
        Demand::over_sets(13.0, 2.0 * days * settled, 6.0 * settled + 6.0),
        Demand::over_sets(4.0, days * of_branch, totals),
        Demand::over_counted(2.0, accounts + branches * totals, 1.0),
    ]
}
