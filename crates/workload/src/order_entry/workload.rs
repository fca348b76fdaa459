//! Order entry as a workload: what it supplies, and how acknowledged orders, deliveries and payments are held against the data.

use super::business::Entry;
use super::data_set::{DELIVERED, MARKED};
use super::house::House;
use super::statements::SAID;
use crate::dataset::{DataSet, Language};
use crate::kind::numbers::epoch_after;
use crate::kind::orders::{Held, together};
use crate::kind::{
    Around, Class, Found, Ledger, Queries, Ready, Refused, Share, Transactions, Unready, Verdict, workers,
};
use crate::transaction::{Business, Sample, Statement};
use std::sync::Arc;

/// Where orders are.
const ORDERS: Held = Held { table: "customer_order", filled: DELIVERED };

/// What the counts of a ledger are called.
const BEFORE: &str = "payments before";
const PAID: &str = "payments";

impl Transactions for House {
    fn classes(&self) -> Vec<Class> {
        super::classes()
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(DataSet::new(MARKED, *self))
    }

    fn ready(&self, _around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(*self))
    }

    fn customers(&self) -> Option<u64> {
        Some(House::customers(self))
    }

    /// By depots. Lines that another depot supplies and payments elsewhere cross.
    fn splits(&self) -> bool {
        true
    }

    /// Finds numbers of orders and payments that were never used.
    fn begin(&self, queries: &mut dyn Queries, _sessions: u32, counts: bool) -> Result<Found, Refused> {
        const GREATEST: &str = "select coalesce(max(x.id), 0) from (select max(id) as id from customer_order \
                                union all select max(id) from payment) x";
        let greatest = queries.number("find numbers for new orders", GREATEST)?;
        let counts = if counts { vec![payments(queries)?] } else { Vec::new() };
        Ok(Found { epoch: epoch_after(self.first_new(), greatest as u64), counts })
    }

    fn ledger(&self, _sessions: u32, found: &Found, businesses: &[&dyn Business]) -> Option<Ledger> {
        let pages = together(workers(businesses).map(Entry::ledger)).unwrap_or_default().pages;
        let counts = Ledger::of_counts([(BEFORE, *found.counts.first()?)]);
        Some(Ledger { pages, ..counts.with(PAID, workers(businesses).map(Entry::payments).sum()) })
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        let there = payments(queries)? - ledger.count(BEFORE);
        let paid = ledger.told(PAID);
        let text = format!("{} payments were acknowledged{}, and the data holds {there}", paid.done, paid.doubt());
        let mut verdicts = ORDERS.hold(queries, ledger)?;
        verdicts.push(Verdict { name: "count", damaged: !paid.allows(there), text });
        Ok(verdicts)
    }
}

fn payments(queries: &mut dyn Queries) -> Result<i64, Refused> {
    queries.number("count the payments", "select count(*) from payment")
}

impl Ready for House {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        SAID.statements()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        SAID.samples()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(Entry::new(*self, share))
    }
}
