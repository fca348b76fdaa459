//! A bank's night as a workload: what it supplies, and how what was settled is held against the data.
//!
//! The one idea: a night that did not come to its end is gone on with. One that did is taken back before the next one, so that every
//! night on a data set has the same to do.

use super::business::Settled;
use super::work::Progress;
use super::{FIRST_ORDER, Night, Spec, samples, statements};
use crate::bank::data_set;
use crate::bank::scale::{PRODUCTS, TODAY};
use crate::dataset::{DataSet, Language, SEED};
use crate::kind::{
    Around, Class, Demand, Found, Ledger, Queries, Ready, Refused, Share, Transactions, Unready, Verdict, Yield,
    workers,
};
use crate::transaction::texts::filled;
use crate::transaction::{Business, Sample, Statement};
use std::sync::Arc;

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        let accounts = self.scale.accounts as f64 / self.spans() as f64;
        let mut classes = ["balance", "ledger", "cut-off"].map(Class::plain);
        classes[0].gives = Some((Yield::Accounts, accounts));
        classes.iter_mut().zip(demands(self)).for_each(|(class, demand)| class.demand = Some(demand));
        classes.into()
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::seeded(self.scale, SEED))
    }

    /// All spans, the ledger of every branch, and the cut-off.
    fn work(&self) -> Option<u64> {
        Some(self.pieces())
    }

    fn amount(&self) -> Option<u64> {
        Some(self.scale.accounts)
    }

    fn ready(&self, around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        let jobs = u64::from(around.sessions.max(1));
        Ok(Arc::new(Jobs { spec: *self, jobs, progress: Arc::new(Progress::of(self)) }))
    }

    /// What one operation is, from which accounts a second follow.
    fn unit(&self) -> Option<String> {
        Some(match self.commit_every {
            1 => "1 account".to_owned(),
            accounts => format!("{accounts} accounts"),
        })
    }

    /// Takes back what a night that came to its end has done, and counts what one that did not has settled.
    fn begin(&self, queries: &mut dyn Queries, _sessions: u32, _counts: bool) -> Result<Found, Refused> {
        let closed = queries.number("look for a cut-off", "select count(*) from cut_off")?;
        if closed > 0 {
            queries.transaction("take the last night back", taken_back())?;
        }
        Ok(Found { epoch: 0, counts: vec![settled(queries)?] })
    }

    fn ledger(&self, _sessions: u32, found: &Found, businesses: &[&dyn Business]) -> Option<Ledger> {
        let before = *found.counts.first()?;
        let all: Vec<Settled> = workers(businesses).map(Night::settled).collect();
        let sum = |of: fn(&Settled) -> u64| all.iter().map(of).sum::<u64>() as i64;
        Some(Ledger::of_counts([
            ("settled before", before),
            ("settled", sum(|settled| settled.done)),
            ("settled unknown", sum(|settled| settled.unknown)),
            (TOTALLED, sum(|settled| settled.branches)),
            (CUT_OFF, sum(|settled| settled.cut_offs)),
        ]))
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        let grown = settled(queries)? - ledger.count("settled before");
        let mut verdicts = vec![verdict(ledger.count("settled"), ledger.count("settled unknown"), grown)];
        // A night that was killed before has closed nothing, and whether something is missing is then nobody's to tell.
        let closed = [ledger.count(TOTALLED), ledger.count(CUT_OFF)];
        if closed != [0, 0] {
            let branches = "select count(distinct branch_id) from ledger";
            let branches = queries.number("count branches that are totalled", branches)?;
            let cut_offs = queries.number("look for a cut-off", "select count(*) from cut_off")?;
            verdicts.push(closing(closed, [branches, cut_offs]));
        }
        Ok(verdicts)
    }
}

/// Names of counts in a ledger: branches that were totalled, and cut-offs.
const TOTALLED: &str = "branches totalled";
const CUT_OFF: &str = "cut off";

/// Accounts that are settled.
fn settled(queries: &mut dyn Queries) -> Result<i64, Refused> {
    queries.number("count settled accounts", "select count(*) from settlement")
}

/// Takes a night back, one transaction: what it posted is subtracted and removed.
fn taken_back() -> Vec<String> {
    let [day, today, first] = [TODAY - 1, TODAY, FIRST_ORDER as i64].map(|number| number.to_string());
    filled(include_str!("taken_back.sql"), &[("{day}", day), ("{today}", today), ("{first}", first)])
}

/// More may be settled than was acknowledged: a night that was killed is gone on with. That none is settled twice is held by the
/// invariants.
fn verdict(done: i64, unknown: i64, grown: i64) -> Verdict {
    let damaged = grown < done;
    let words = if unknown == 0 { String::new() } else { format!("; up to {unknown} of unknown outcome") };
    let text = match damaged {
        false if grown > done + unknown => {
            format!(
                "{done} accounts were acknowledged as settled, and a later night settled the others of {grown}{words}"
            )
        }
        false => format!("{grown} accounts are settled, as was acknowledged{words}"),
        true => format!("{done} accounts were acknowledged as settled, the data holds {grown}{words}"),
    };
    Verdict { name: "settled", damaged, text }
}

/// Branches that are totalled and cut-offs, acknowledged ones beside those in the data. Both stand in the data in one place only.
fn closing(acknowledged: [i64; 2], there: [i64; 2]) -> Verdict {
    let damaged = there[0] < acknowledged[0] || there[1] < acknowledged[1];
    let words = |[branches, cut_offs]: [i64; 2]| {
        let branches = match branches {
            1 => "1 branch is totalled".to_owned(),
            _ => format!("{branches} branches are totalled"),
        };
        format!("{branches} and the period is {}", if cut_offs > 0 { "cut off" } else { "not cut off" })
    };
    let text = match acknowledged == there {
        true => format!("{}, as was acknowledged", words(there)),
        false => format!("acknowledged: {}; in the data: {}", words(acknowledged), words(there)),
    };
    Verdict { name: "closed", damaged, text }
}

/// The jobs of a trial.
struct Jobs {
    spec: Spec,
    jobs: u64,
    progress: Arc<Progress>,
}

impl Ready for Jobs {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        statements()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        samples()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(Night::new(self.spec, self.jobs, self.progress.clone(), share))
    }
}

// What the pieces of a bank's night ask of a database, whatever it takes for them.
//
// The one idea: a piece goes over sets of rows, and how many follows from accounts and days: an account has a balance and, on the
// mean, an item for each day of the period.
//
// What it does not do: it knows no account whose interest or charges are nothing.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_that_was_acknowledged_and_is_not_settled_is_damage() {
        assert!(!verdict(500, 0, 500).damaged && !verdict(500, 100, 600).damaged);
        let Verdict { damaged, text, .. } = verdict(500, 0, 499);
        assert!(damaged && text.contains("the data holds 499"), "{text}");
        let Verdict { damaged, text, .. } = verdict(500, 0, 1_000);
        assert!(!damaged && text.contains("a later night settled the others of 1000"), "{text}");
    }

    #[test]
    fn a_branch_or_a_cut_off_that_was_acknowledged_and_is_gone_is_damage() {
        let told = closing([4, 1], [4, 1]);
        assert_eq!(told.text, "4 branches are totalled and the period is cut off, as was acknowledged");
        // What came to its end in a try whose outcome nobody knew, or in a later night, is no damage.
        assert!(!told.damaged && !closing([3, 0], [4, 1]).damaged);
        assert!(closing([4, 1], [4, 0]).damaged && closing([4, 0], [0, 1]).damaged);
        let told = closing([4, 1], [1, 0]);
        let words = "acknowledged: 4 branches are totalled and the period is cut off; in the data: 1 branch is totalled and the \
                     period is not cut off";
        assert_eq!((told.damaged, told.text.as_str()), (true, words));
    }
}
