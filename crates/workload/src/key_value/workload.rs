//! Records by key as a workload: what they supply, and how acknowledged changes are held against the data.

use super::business::Acknowledged;
use super::data_set::TABLE;
use super::statements::{samples, statements};
use super::{KeyValue, Mix, Spec, data_set, history};
use crate::dataset::{DataSet, Language};
use crate::kind::{
    Around, Class, Found, Ledger, Queries, Ready, Refused, Share, Told, Transactions, Unready, Verdict, workers,
};
use crate::transaction::{Business, Sample, Statement, Value};
use std::sync::Arc;

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        let parts = self.mix.parts().iter();
        let planned = |(class, percent): &(super::spec::Class, u64)| Class {
            share: Some(*percent as f64 / 100.0),
            ..Class::plain(class.word())
        };
        parts.map(planned).collect()
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::data_set(self))
    }

    fn ready(&self, _around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(*self))
    }

    fn splits(&self) -> bool {
        true
    }

    fn begin(&self, queries: &mut dyn Queries, _sessions: u32, counts: bool) -> Result<Found, Refused> {
        let greatest = queries.number("look at the records", &format!("select coalesce(max(id), 0) from {TABLE}"))?;
        // A number that grows with every trial that appends tells the lists of each apart.
        let appended = if self.mix == Mix::Lists { changes(queries)? } else { 0 };
        let greatest = greatest + appended;
        let counts = if counts { vec![changes(queries)?] } else { Vec::new() };
        Ok(Found { epoch: greatest as u64, counts })
    }

    fn ledger(&self, _sessions: u32, found: &Found, businesses: &[&dyn Business]) -> Option<Ledger> {
        let before = *found.counts.first()?;
        let told = workers(businesses).map(KeyValue::acknowledged);
        let before = Ledger::of_counts([("changes before", before), ("greatest key before", found.epoch as i64)]);
        let mut ledger = before
            .with("changes", told.clone().map(|one| one.changes).sum())
            .with("inserts", told.map(|one| one.inserts).sum());
        let noted = workers::<KeyValue>(businesses).filter(|_| self.mix == Mix::Lists);
        ledger.pages = noted.flat_map(|business| business.history.pages(business.worker.into())).collect();
        Some(ledger)
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        let told = Acknowledged { changes: ledger.told("changes"), inserts: ledger.told("inserts") };
        let changed = changes(queries)? - ledger.count("changes before");
        let new = format!("select count(*) from {TABLE} where id > {}", ledger.count("greatest key before"));
        let inserted = queries.number("count the records that were inserted", &new)?;
        let mut verdicts = vec![verdict(&told, changed, inserted)];
        if self.mix == Mix::Lists {
            verdicts.push(lists(queries, ledger)?);
        }
        Ok(verdicts)
    }
}

/// All changes that the records count.
fn changes(queries: &mut dyn Queries) -> Result<i64, Refused> {
    queries.number("count the changes of the records", &format!("select coalesce(sum(changes), 0) from {TABLE}"))
}

/// Whether all lists hold what was acknowledged.
fn lists(queries: &mut dyn Queries, ledger: &Ledger) -> Result<Verdict, Refused> {
    let rows = queries.query("read the lists", &format!("select id, {} from {TABLE}", data_set::fields(1)[0]))?;
    let epoch = ledger.count("greatest key before") as u64;
    let list = |row: &Vec<Value>| Some((row.first()?.int()?, history::read(row.get(1)?.text()?, epoch)));
    let (kept, amiss) = history::amiss(&ledger.pages, &rows.iter().filter_map(list).collect());
    let text = match amiss.as_slice() {
        [] => format!("{} that were acknowledged are in their lists", units::counted(kept, "numbers")),
        amiss => amiss.join("\n"),
    };
    Ok(Verdict { name: "lists", damaged: !amiss.is_empty(), text })
}

impl Ready for Spec {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        statements(self)
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        samples(self)
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(KeyValue::new(*self, share))
    }
}

pub(super) fn verdict(told: &Acknowledged, changed: i64, inserted: i64) -> Verdict {
    let Acknowledged { changes: told, inserts: new } = *told;
    let (changes, inserts) = (told.done, new.done);
    let unknown = [told, new].into_iter().sum::<Told>().doubt();
    let kept = told.allows(changed) && new.allows(inserted);
    let text = if kept {
        let rows = match inserted {
            0 => "no rows were added".to_owned(),
            _ => format!("so are all {}", units::counted(inserts, "new rows")),
        };
        format!("all {changes} acknowledged changes are in the data; {rows}{unknown}")
    } else {
        let lost = match changes as i64 - changed {
            lost @ 1.. => format!(": {} lost", units::counted(lost as u64, "updates")),
            _ => String::new(),
        };
        format!(
            "{changes} changes and {inserts} new records were acknowledged, the data holds {changed} and \
             {inserted}{lost}{unknown}"
        )
    };
    Verdict { name: "count", damaged: !kept, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_was_acknowledged_and_is_not_there_is_damage() {
        let told = Acknowledged { changes: Told { done: 10, unknown: 1 }, inserts: Told { done: 3, unknown: 0 } };
        assert!(!verdict(&told, 10, 3).damaged && !verdict(&told, 11, 3).damaged);
        let sure = Acknowledged { changes: Told { done: 10, unknown: 0 }, ..told };
        assert_eq!(verdict(&sure, 10, 3).text, "all 10 acknowledged changes are in the data; so are all 3 new rows");
        let none = Acknowledged { inserts: Told::default(), ..sure };
        assert_eq!(verdict(&none, 10, 0).text, "all 10 acknowledged changes are in the data; no rows were added");
        for (changed, inserted) in [(9, 3), (12, 3), (10, 2), (10, 4)] {
            let Verdict { damaged, text, .. } = verdict(&told, changed, inserted);
            assert!(damaged && text.contains(&format!("the data holds {changed} and {inserted}")), "{text}");
            assert_eq!(text.contains(": 1 update lost"), changed == 9, "{text}");
        }
    }
}
