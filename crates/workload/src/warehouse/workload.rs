//! The warehouse as a workload: what it supplies, and how acknowledged loads are held against the data.

use super::deltas::{Unclaimed, delta_samples, delta_statements};
use super::scale::{CUBES, QUARTERS, Scale};
use super::spec::{LoadRate, Users, Variables};
use super::statements::{reports, source};
use super::walk::{Axis, Move, Walks};
use super::{Spec, Warehouse, data_set};
use crate::dataset::{DataSet, Language, SEED};
use crate::kind::{
    Around, Class, Demand, Found, Ledger, Queries, Ready, Refused, Share, Told, Transactions, Unready, Verdict, Yield,
    workers,
};
use crate::transaction::{Business, Sample, Statement};
use std::sync::{Arc, LazyLock};

impl Transactions for Spec {
    /// No user asks for changes and loads: throughput is that of dialog steps.
    fn classes(&self) -> Vec<Class> {
        let rows = Scale::of(self).delta(self.delta) as f64;
        let class = |name, demand| Class { demand: Some(demand), ..Class::plain(name) };
        let step =
            |made: &Move| Class { gives: Some((Yield::DialogSteps, 1.0)), ..class(made.word(), step(self, *made)) };
        let mut all: Vec<Class> = Move::ALL.iter().map(step).collect();
        all.push(Class { upkeep: true, ..class("order-change", change(self)) });
        let loaded = Some((Yield::LoadedRows, rows));
        let offered_per_s = match self.load_rate {
            LoadRate::Off => Some(0.0),
            LoadRate::Rows(rate) => Some(rate as f64),
            LoadRate::Full => None,
        };
        all.push(Class { upkeep: true, gives: loaded, offered_per_s, ..class("delta-load", load(self)) });
        all.push(Class { age: true, ..Class::plain("freshness") });
        all
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::seeded(Scale::of(self), SEED))
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
        let told = workers(businesses).map(Warehouse::acknowledged).sum();
        Some(Ledger::of_counts([("loads before", before)]).with("loads", told))
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        let there = applied(queries)? - ledger.count("loads before");
        Ok(vec![verdict(ledger.told("loads"), there)])
    }
}

/// Deltas that were loaded.
fn applied(queries: &mut dyn Queries) -> Result<i64, Refused> {
    queries.number("count the deltas that were loaded", "select count(*) from delta where applied = 1")
}

fn verdict(told: Told, there: i64) -> Verdict {
    let (kept, loads, doubt) = (told.allows(there), told.done, told.doubt());
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
        reports(&scale).into_iter().map(|one| one.0).chain(delta_statements(&scale)).collect()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        let scale = Scale::of(&self.spec);
        reports(&scale).into_iter().map(|one| one.1).chain(delta_samples(&scale)).collect()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(Warehouse::new(self.spec, share, self.walkers, self.unclaimed.clone()))
    }
}

// What dialog steps and loads ask of a database, whatever it takes for them.
//
// The one idea: a step goes through the rows of its source in its period. Which rows stand in a report and how long its
// period is are told by walks, how many rows a source has by the scale; members of dimensions are taken to be as likely.
//
// What it does not do: it knows nothing of the rows that a slice or a member leaves, which are found among all of the period.

/// Steps that tell what stands in reports.
const STEPS: u64 = 12_000;

/// Quarters of a step by move, and by what stands in its rows: the mean, zero where it is something else.
static QUARTERS_SEEN: LazyLock<[[f64; 7]; 6]> = LazyLock::new(|| {
    let walks = Walks::new(1, 1, Users::Free, Variables::Differ);
    let (mut seen, mut steps) = ([[0.0; 7]; 6], [0.0; 6]);
    for step in (0..STEPS).map(|n| walks.step(n)) {
        seen[step.made as usize][step.view.rows as usize] += step.view.quarters as f64;
        steps[step.made as usize] += 1.0;
    }
    seen.iter_mut().zip(steps).for_each(|(seen, steps)| seen.iter_mut().for_each(|sum| *sum /= steps));
    seen
});

/// Members that so many rows, drawn among so many, meet.
fn met(rows: f64, members: f64) -> f64 {
    members * -libm::expm1(-rows / members)
}

/// Rows of a quarter in what a report is answered from.
fn rows_a_quarter(scale: &Scale, rows: Axis) -> f64 {
    let facts = scale.rows as f64 / (CUBES.len() as u64 * QUARTERS) as f64;
    source(scale, rows).map_or(facts, |level| {
        let (products, customers) = level.sides();
        let periods = level.periods() as f64 / QUARTERS as f64;
        periods * met(facts / periods, (products * customers) as f64)
    })
}

/// Of a step that such a move leads to: the marker of its cube, and the report.
pub(super) fn step(spec: &Spec, made: Move) -> Demand {
    let scale = Scale::of(spec);
    let seen = Axis::ALL.iter().zip(QUARTERS_SEEN[made as usize]);
    Demand::over_sets(2.0, seen.map(|(rows, quarters)| quarters * rows_a_quarter(&scale, *rows)).sum(), 0.0)
}

/// Of a change of the orders of a delta in the source.
pub(super) fn change(spec: &Spec) -> Demand {
    let orders = Scale::of(spec).delta(spec.delta) as f64;
    Demand::over_sets(2.0, orders, orders + 1.0)
}

/// Of the load of a delta: orders are logged, activated and inserted, each with what it is looked up in, and rolled up into
/// the month of the delta.
pub(super) fn load(spec: &Spec) -> Demand {
    let scale = Scale::of(spec);
    let orders = scale.delta(spec.delta) as f64;
    let rolled = scale.levels().iter().map(|level| level.sides()).map(|(one, other)| met(orders, (one * other) as f64));
    let levels = scale.levels().len() as f64;
    let read = (2.0 + 3.0 + 4.0 + 4.0 * levels) * orders;
    Demand::over_sets(6.0 + levels, read, 3.0 * orders + rolled.sum::<f64>() + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_was_acknowledged_and_is_not_there_is_damage() {
        let told = Told { done: 5, unknown: 1 };
        assert!(!verdict(told, 5).damaged && !verdict(told, 6).damaged);
        for there in [4, 7] {
            let Verdict { damaged, text, .. } = verdict(told, there);
            assert!(damaged && text.contains(&format!("the data holds {there}")), "{text}");
        }
    }
}
