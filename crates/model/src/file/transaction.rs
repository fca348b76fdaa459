//! Which transaction the numbers of a server hold for.
//!
//! The one idea: a server's amounts are those of one mean transaction. What a class of another workload asks for is told by how
//! many statements, rows and changes it has of it, so that a profile of one workload says something of others.

use super::Description;
use super::write::number;
use crate::server::Factors;
use reading::{Entry, Problems, Section};
use workload::{Demand, brokerage};

impl Description {
    /// How many times what this machine's transaction asks for one of such a class asks for; without a demand of its own a
    /// class is the brokerage's mean transaction.
    pub fn factors(&self, class: Option<Demand>) -> Factors {
        let known = self.transaction.unwrap_or(brokerage::MEAN);
        Factors::of(class.unwrap_or(brokerage::MEAN), known)
    }
}

/// Reads the table.
pub(super) fn read(entry: Entry, problems: &mut Problems) -> Option<Demand> {
    let mut section = Section::of("transaction", entry.node, problems)?;
    let mut amount = |name: &'static str, least: f64| {
        let parsed = |text: &str| match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= least => Ok(value),
            _ => Err(format!("a number from {least}, got `{text}`")),
        };
        section.read(name, problems, parsed)
    };
    let (statements, lookups, changes) = (amount("statements", LEAST), amount("lookups", 0.0), amount("changes", 0.0));
    let at = section.at.clone();
    section.finish(&[], |_| None, problems);
    let (Some(statements), Some(lookups), Some(changes)) = (statements, lookups, changes) else {
        problems.add(&at, "transaction", "needs `statements`, `lookups` and `changes` of the mean transaction");
        return None;
    };
    Some(Demand { statements, lookups, changes })
}

/// Statements of a transaction at least.
const LEAST: f64 = 1e-3;

/// The table of a model file.
pub(super) fn text(transaction: Demand) -> String {
    let Demand { statements, lookups, changes } = transaction;
    let [statements, lookups, changes] = [statements, lookups, changes].map(number);
    format!(
        "\n# The mean transaction that the numbers hold for: statements, rows found, and rows changed.\n[transaction]\n\
         statements = {statements}\nlookups    = {lookups}\nchanges    = {changes}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    fn shipped(table: &str) -> Result<Description, Problems> {
        let shipped = crate::models().iter().find(|model| model.name == "small-server").expect("it ships");
        file::read("x", &format!("{}\n{table}", shipped.text))
    }

    #[test]
    fn a_file_that_says_its_transaction_is_read_back_and_scales_others_by_it() {
        let model = shipped("[transaction]\nstatements = 2.5\nlookups = 10\nchanges = 0\n").unwrap();
        assert_eq!(model.transaction, Some(Demand { statements: 2.5, lookups: 10.0, changes: 0.0 }));
        assert_eq!(file::read("x", &file::write(&model)).unwrap().transaction, model.transaction);
        let asked = |changes: f64| model.factors(Some(Demand { statements: 5.0, lookups: 10.0, changes }));
        assert_eq!(asked(0.0), Factors { work: 2.0, reads: 1.0, changes: 0.0 });
        assert_eq!(asked(7.0).changes, 1.0, "of changes it knows nothing but that there are some");
        let brokerage = model.factors(None);
        assert!(brokerage.work > 2.0 && brokerage.reads > 4.0, "{brokerage:?}");
        assert_eq!(shipped("").unwrap().factors(None), Factors::ALIKE);
    }

    #[test]
    fn what_is_no_transaction_is_refused_with_its_place() {
        let refused = |table: &str| shipped(table).unwrap_err().to_string();
        assert!(
            refused("[transaction]\nstatements = 0\nlookups = 1\nchanges = 1\n")
                .contains("a number from 0.001, got `0`")
        );
        assert!(refused("[transaction]\nstatements = 1\nlookups = 1\n").contains("needs `statements`"));
        assert!(refused("[transaction]\nstatement = 1\n").contains("did you mean `statements`?"));
    }
}
