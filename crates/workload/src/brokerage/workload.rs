//! The brokerage house as a workload: what it supplies, what it clears away before a trial, and how its ledger is held against
//! the trades afterwards.

use super::ledger::{Faulty, Judged};
use super::{
    Brokerage, Ledger, Scale, Spec, classes, cleanup_statements, data_set, epoch_after, procedures, samples, statements,
};
use crate::dataset::{DataSet, Language};
use crate::kind::{self, Around, Class, Found, Queries, Ready, Refused, Share, Transactions, Unready, Verdict, whole};
use crate::transaction::{Business, Sample, Statement, Value};
use std::any::Any;
use std::sync::Arc;

/// Trades that are read at once.
const PAGE: usize = 50_000;

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        classes(self.preset)
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::data_set(Scale::of(self)))
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
        let rows = queries.query(WHAT, "select coalesce(max(id), 0) from trade")?;
        let greatest = whole(&rows).unwrap_or(0);
        Ok(Found { epoch: epoch_after(&scale, greatest as u64), counts: Vec::new() })
    }

    fn ledger(&self, _sessions: u32, _found: &Found, businesses: &[&dyn Business]) -> Option<kind::Ledger> {
        let mut ledger = Ledger::default();
        let workers = businesses.iter().filter_map(|business| (*business as &dyn Any).downcast_ref::<Brokerage>());
        workers.for_each(|worker| ledger.merge(worker.ledger()));
        let pages = ledger.into_pages();
        (!pages.is_empty()).then(|| kind::Ledger { pages, ..kind::Ledger::default() })
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &kind::Ledger) -> Result<Vec<Verdict>, Refused> {
        let ledger = Ledger::of_pages(&ledger.pages);
        let Some(first) = ledger.entries().next() else { return Ok(Vec::new()) };
        Ok(vec![verdict(&judge(queries, &ledger, first.trade)?)])
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
        let &Share { worker, workers, slots, seed, epoch, .. } = share;
        Box::new(Brokerage::new(*self, seed, worker, workers, slots, epoch))
    }
}

/// Holds what the workers know against the trades from number `from` on.
///
/// # Errors
/// When the database refuses a query.
pub fn judge(queries: &mut dyn Queries, ledger: &Ledger, from: u64) -> Result<Judged, Refused> {
    let mut trades = Trades { queries, next: Some(from), page: Vec::new().into_iter(), refused: false };
    let judged = ledger.judge(&mut trades);
    if trades.refused { Err(Refused) } else { Ok(judged) }
}

/// Number and status of trades in ascending order, page by page, so that nothing grows with the length of a run.
struct Trades<'a> {
    queries: &'a mut dyn Queries,
    /// Where the next page begins; none after the last.
    next: Option<u64>,
    page: std::vec::IntoIter<Vec<Value>>,
    refused: bool,
}

impl Trades<'_> {
    fn turn(&mut self, from: u64) {
        let sql = format!("SELECT id, status FROM trade WHERE id >= {from} ORDER BY id LIMIT {PAGE}");
        match self.queries.query("check the ledger", &sql) {
            Ok(rows) => {
                let last = rows.last().and_then(|row| number(row.first()?));
                self.next = last.filter(|_| rows.len() == PAGE).map(|last| last + 1);
                self.page = rows.into_iter();
            }
            Err(Refused) => self.refused = true,
        }
    }
}

impl Iterator for Trades<'_> {
    type Item = (u64, String);

    fn next(&mut self) -> Option<(u64, String)> {
        if self.page.len() == 0 {
            let from = self.next.take()?;
            self.turn(from);
        }
        let row = self.page.next()?;
        Some((number(row.first()?)?, row.get(1)?.text()?.to_owned()))
    }
}

fn number(value: &Value) -> Option<u64> {
    u64::try_from(value.int()?).ok()
}

fn verdict(judged: &Judged) -> Verdict {
    let name = "ledger";
    let unknown = match (judged.unknown_kept, judged.unknown_lost) {
        (0, 0) => String::new(),
        (kept, lost) => format!("; of unknown outcome {kept} were kept and {lost} were not"),
    };
    if judged.passed() {
        return Verdict { name, damaged: false, text: format!("{} orders are as acknowledged{unknown}", judged.ok) };
    }
    let fault = |what: &str, faulty: &Faulty| {
        let first = faulty.first.first().copied().unwrap_or(0);
        (faulty.count > 0).then(|| format!("{} {what}, the first is trade {first}", faulty.count))
    };
    let faults = [
        fault("acknowledged orders are missing", &judged.missing),
        fault("orders that were rolled back are there", &judged.resurrected),
        fault("acknowledged fills are missing", &judged.unfilled),
    ];
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    Verdict { name, damaged: true, text: format!("{}{unknown}", faults.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_commit_is_damage_and_an_unknown_one_is_not() {
        let kept = Judged { ok: 5, unknown_kept: 1, ..Judged::default() };
        assert!(!verdict(&kept).damaged);
        let lost = Judged { missing: Faulty { count: 1, first: vec![42] }, ..Judged::default() };
        let Verdict { damaged, text, .. } = verdict(&lost);
        assert!(damaged && text.contains("1 acknowledged orders are missing, the first is trade 42"), "{text}");
    }
}
