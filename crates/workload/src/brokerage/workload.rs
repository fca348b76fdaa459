//! The brokerage house as a workload: what it supplies, what it clears away before a trial, and how its ledger is held against
//! the trades afterwards.

use super::codes::COMPLETED;
use super::ledger::{Held, Judged, together};
use super::{
    Brokerage, Ledger, Scale, Spec, classes, cleanup_statements, data_set, epoch_after, procedures, samples, statements,
};
use crate::dataset::{DataSet, Language, SEED};
use crate::kind::{
    self, Around, Class, Found, Queries, Ready, Refused, Share, Transactions, Unready, Verdict, workers,
};
use crate::transaction::{Business, Sample, Statement};
use std::sync::Arc;

/// Where orders are.
const ORDERS: Held = Held { table: "trade", filled: COMPLETED };

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        classes(self.preset)
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::seeded(Scale::of(self), SEED))
    }

    fn ready(&self, _around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(*self))
    }

    fn calls_procedures(&self) -> bool {
        self.procedures
    }

    /// Its mean transaction is the one that models describe; its classes are taken for alike.
    fn described_by_models(&self) -> bool {
        true
    }

    /// Brokers cross: they serve customers of both halves.
    fn splits(&self) -> bool {
        true
    }

    fn customers(&self) -> Option<u64> {
        Some(self.customers)
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("customers", self.customers.to_string()), ("caused", super::mix::caused(self.preset).to_string())]
    }

    /// Cancels what an earlier trial left in the market, and finds numbers of trades that were never used.
    fn begin(&self, queries: &mut dyn Queries, _sessions: u32, _counts: bool) -> Result<Found, Refused> {
        const WHAT: &str = "clean up after the last trial";
        let scale = Scale::of(self);
        queries.transaction(WHAT, cleanup_statements(&scale))?;
        let greatest = queries.number(WHAT, "select coalesce(max(id), 0) from trade")?;
        Ok(Found { epoch: epoch_after(&scale, greatest as u64), counts: Vec::new() })
    }

    fn ledger(&self, _sessions: u32, _found: &Found, businesses: &[&dyn Business]) -> Option<kind::Ledger> {
        together(workers(businesses).map(Brokerage::ledger))
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &kind::Ledger) -> Result<Vec<Verdict>, Refused> {
        ORDERS.hold(queries, ledger)
    }
}

impl Ready for Spec {
    fn statements(&self, language: Option<Language>) -> Vec<Statement> {
        match language.filter(|_| self.procedures) {
            Some(language) => procedures::calls(self.preset, language),
            None if self.procedures => Vec::new(),
            None => statements(self.preset),
        }
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        samples(self.preset)
    }

    fn gathers(&self) -> bool {
        self.procedures
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        let &Share { worker, workers, slots, seed, epoch, half, .. } = share;
        Box::new(Brokerage::new(*self, seed, worker, workers, slots, epoch).on(half))
    }
}

/// Holds what the workers know against the trades from number `from` on.
///
/// # Errors
/// When the database refuses a query.
pub fn judge(queries: &mut dyn Queries, ledger: &Ledger, from: u64) -> Result<Judged, Refused> {
    ORDERS.judge(queries, ledger, from)
}
