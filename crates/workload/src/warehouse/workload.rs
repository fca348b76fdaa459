//! The warehouse as a workload: what it supplies, and how acknowledged loads are held against the data.

use super::business::Acknowledged;
use super::deltas::{Unclaimed, delta_samples, delta_statements};
use super::scale::Scale;
use super::spec::LoadRate;
use super::statements::{reports, samples};
use super::walk::Move;
use super::{Spec, Warehouse, data_set, demand};
use crate::dataset::{DataSet, Language};
use crate::kind::{
    Around, Class, Found, Ledger, Queries, Ready, Refused, Share, Transactions, Unready, Verdict, Yield, workers,
};
use crate::transaction::{Business, Sample, Statement};
use std::sync::Arc;

impl Transactions for Spec {
    /// No user asks for changes and loads: throughput is that of dialog steps.
    fn classes(&self) -> Vec<Class> {
        let rows = Scale::of(self).delta(self.delta) as f64;
        let class = |name, demand| Class { demand: Some(demand), ..Class::plain(name) };
        let step = |made: &Move| Class {
            gives: Some((Yield::DialogSteps, 1.0)),
            ..class(made.word(), demand::step(self, *made))
        };
        let mut all: Vec<Class> = Move::ALL.iter().map(step).collect();
        all.push(Class { upkeep: true, ..class("order-change", demand::change(self)) });
        let loaded = Some((Yield::LoadedRows, rows));
        let offered_per_s = match self.load_rate {
            LoadRate::Off => Some(0.0),
            LoadRate::Rows(rate) => Some(rate as f64),
            LoadRate::Full => None,
        };
        all.push(Class { upkeep: true, gives: loaded, offered_per_s, ..class("delta-load", demand::load(self)) });
        all.push(Class { age: true, ..Class::plain("freshness") });
        all
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::data_set(Scale::of(self)))
    }

    fn ready(&self, around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(Walked { spec: *self, walkers: around.sessions, unclaimed: Unclaimed::default() }))
    }

    fn begin(&self, queries: &mut dyn Queries, _sessions: u32, counts: bool) -> Result<Found, Refused> {
        let greatest = queries.number("look at the deltas", "select coalesce(max(id), 0) from delta")?;
        let counts = if counts { vec![applied(queries)?] } else { Vec::new() };
        Ok(Found { epoch: greatest as u64, counts })
    }

    fn ledger(&self, _sessions: u32, found: &Found, businesses: &[&dyn Business]) -> Option<Ledger> {
        let before = *found.counts.first()?;
        let told = workers(businesses).map(Warehouse::acknowledged).fold(Acknowledged::default(), |sum, one| {
            Acknowledged { loads: sum.loads + one.loads, unknown: sum.unknown + one.unknown }
        });
        let (loads, unknown) = (told.loads as i64, told.unknown as i64);
        Some(Ledger::of_counts([("loads before", before), ("loads", loads), ("loads unknown", unknown)]))
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        let there = applied(queries)? - ledger.count("loads before");
        Ok(vec![verdict(ledger.count("loads"), ledger.count("loads unknown"), there)])
    }
}

/// Deltas that were loaded.
fn applied(queries: &mut dyn Queries) -> Result<i64, Refused> {
    queries.number("count the deltas that were loaded", "select count(*) from delta where applied = 1")
}

fn verdict(loads: i64, unknown: i64, there: i64) -> Verdict {
    let kept = (loads..=loads + unknown).contains(&there);
    let doubt = if unknown == 0 { String::new() } else { format!("; {unknown} of unknown outcome") };
    let text = match kept {
        true => format!("all {loads} acknowledged loads of deltas are in the data{doubt}"),
        false => format!("{loads} loads of deltas were acknowledged, the data holds {there}{doubt}"),
    };
    Verdict { name: "count", damaged: !kept, text }
}

/// The warehouse with so many users who walk.
struct Walked {
    spec: Spec,
    walkers: u32,
    unclaimed: Unclaimed,
}

impl Ready for Walked {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        let scale = Scale::of(&self.spec);
        reports(&scale).into_iter().chain(delta_statements(&scale)).collect()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        samples().into_iter().chain(delta_samples(&Scale::of(&self.spec))).collect()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(Warehouse::new(self.spec, share, self.walkers, self.unclaimed.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_was_acknowledged_and_is_not_there_is_damage() {
        assert!(!verdict(5, 1, 5).damaged && !verdict(5, 1, 6).damaged);
        for there in [4, 7] {
            let Verdict { damaged, text, .. } = verdict(5, 1, there);
            assert!(damaged && text.contains(&format!("the data holds {there}")), "{text}");
        }
    }
}
