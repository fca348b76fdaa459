//! A bank's day as a workload: what it supplies, and how its ledger is held against the orders afterwards.

use super::business::clock;
use super::{Day, Spec, classes, samples, statements};
use crate::bank::data_set;
use crate::bank::history::History;
use crate::bank::scale::FIRST_ORDER;
use crate::dataset::{DataSet, Language, SEED};
use crate::kind::numbers::epoch_after;
use crate::kind::orders::{Held, together};
use crate::kind::{
    Around, Class, Clocked, Found, Ledger, Queries, Ready, Refused, Share, Transactions, Unready, Verdict, workers,
};
use crate::transaction::{Business, Sample, Statement};
use std::sync::Arc;

/// Where orders are.
const ORDERS: Held = Held { table: "payment_order", filled: "posted" };

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        classes()
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::seeded(self.scale, SEED))
    }

    fn ready(&self, _around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(*self))
    }

    fn clock(&self) -> Vec<Clocked> {
        clock(self)
    }

    /// Standing orders cross: they are one queue.
    fn splits(&self) -> bool {
        true
    }

    fn customers(&self) -> Option<u64> {
        Some(self.scale.customers())
    }

    /// Finds numbers of orders that were never used; those of the night lie above all of them.
    fn begin(&self, queries: &mut dyn Queries, _sessions: u32, _counts: bool) -> Result<Found, Refused> {
        let sql = format!("select coalesce(max(id), 0) from payment_order where id < {FIRST_ORDER}");
        let greatest = queries.number("find numbers for new orders", &sql)?;
        let first = History::new(self.scale, SEED).first_order_of_day();
        Ok(Found { epoch: epoch_after(first, greatest as u64), counts: Vec::new() })
    }

    fn ledger(&self, _sessions: u32, _found: &Found, businesses: &[&dyn Business]) -> Option<Ledger> {
        together(workers(businesses).map(Day::ledger))
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        ORDERS.hold(queries, ledger)
    }
}

impl Ready for Spec {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        statements()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        samples()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(Day::new(*self, share))
    }
}
