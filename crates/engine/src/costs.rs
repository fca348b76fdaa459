//! What statements cost the database over a trial, beside what was asked.
//!
//! The one idea: the database is read before and after, and the difference for a text belongs to the statement of that text.
//! Where several statements have one text, they share by executions.
//!
//! What it does not do: it makes no CPU of times; that needs the window, and is analysis.

use crate::profile::Profile;
use database::StatementCost;
use observation::{COMMIT, OfStatement, Probe, Series};
use std::collections::BTreeMap;
use units::Nanos;

/// The costs of a trial as rates over it: one point a series.
pub(crate) fn series(asked: &Profile, before: &[StatementCost], after: &[StatementCost], end: Nanos) -> Vec<Series> {
    let (before, after) = (summed(before), summed(after));
    let mut executions = BTreeMap::<&str, f64>::new();
    for (_, key, count) in asked.executions() {
        *executions.entry(key).or_default() += count as f64;
    }
    let seconds = end.seconds().max(f64::MIN_POSITIVE);
    let mut found = Vec::new();
    for (name, key, count) in asked.executions().filter(|(_, _, count)| *count > 0) {
        let share = count as f64 / executions.get(key).copied().unwrap_or(1.0);
        let own = after.iter().filter(|((known, _), _)| *known == key);
        for ((_, amount), now) in own {
            let grown = now - before.get(&(key, *amount)).copied().unwrap_or(0.0);
            // Statistics that were reset in between say nothing.
            if grown >= 0.0 {
                let probe = Probe::Statement(name.to_owned(), *amount);
                found.push(Series { probe, points: vec![(end, share * grown / seconds)] });
            }
        }
    }
    found
}

/// What commits are counted as.
pub(crate) fn commit() -> (String, String) {
    (COMMIT.to_owned(), COMMIT.to_owned())
}

fn summed(costs: &[StatementCost]) -> BTreeMap<(&str, OfStatement), f64> {
    let mut sums = BTreeMap::new();
    for (cost, (name, value)) in costs.iter().flat_map(|cost| cost.amounts.iter().map(move |amount| (cost, amount))) {
        *sums.entry((cost.key.as_str(), *name)).or_default() += value;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(key: &str, lookups: f64) -> StatementCost {
        StatementCost { key: key.to_owned(), amounts: vec![(OfStatement::Lookups, lookups)] }
    }

    #[test]
    fn what_grew_belongs_to_the_statements_of_that_text_by_executions() {
        let asked = Profile::of_counts(&[("one", "k", 3), ("two", "k", 1), ("other", "o", 5), ("unknown", "u", 1)]);
        let before = [cost("k", 100.0), cost("o", 50.0)];
        let after = [cost("k", 150.0), cost("k", 30.0), cost("o", 10.0), cost("strange", 9.0)];
        let found = series(&asked, &before, &after, Nanos::from_secs(2));
        let rates: Vec<(String, f64)> = found.iter().map(|s| (s.probe.to_string(), s.points[0].1)).collect();
        assert_eq!(rates, [("statement.one.lookups".to_owned(), 30.0), ("statement.two.lookups".to_owned(), 10.0)]);
    }
}
