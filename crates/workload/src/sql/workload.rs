//! Scripts as a workload: what a study names, read and compiled for a trial, and the tables of the built-in ones.

use super::builtin;
use super::{Program, Script, Scripts, Spec};
use crate::dataset::{Contents, DataSet, Language, Made, Partitions, Rows, Table};
use crate::kind::{Around, Class, Ready, Share, Transactions, Unready};
use crate::transaction::{Business, Sample, Statement};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Scripts that a study names. Their texts are read before anything is touched.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Paths, or the names of built-in scripts, with their weights.
    pub scripts: Vec<(String, f64)>,
    /// Variables that are set from outside.
    pub define: Vec<(String, String)>,
    /// The `:scale` of the scripts, and of the data that comes with built-in ones.
    pub scale: u64,
    /// Partitions of the accounts, and whether they are by range; none of a table in one piece.
    pub partitions: Option<(NonZeroU32, bool)>,
}

impl Asked {
    /// Whether all of its scripts are built in.
    pub fn built_in(&self) -> bool {
        self.scripts.iter().all(|(path, _)| builtin::script(path).is_some())
    }
}

/// What a script is called in reports: its file's name.
pub fn script_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Transactions for Asked {
    fn classes(&self) -> Vec<Class> {
        self.scripts.iter().map(|(path, _)| Class::plain(script_name(path))).collect()
    }

    /// The user's own scripts ask the user's tables, and so do built-in ones on a server that is the user's: they are there
    /// already.
    fn data_set(&self, theirs: bool) -> Option<DataSet> {
        let scale = u32::try_from(self.scale).unwrap_or(u32::MAX);
        (self.built_in() && !theirs).then(|| DataSet::new(MARKED, Branches { scale, partitions: self.partitions }))
    }

    fn ready(&self, around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        let script = |(path, weight): &(String, f64)| script(path, *weight, around);
        let scripts = self.scripts.iter().map(script).collect::<Result<Vec<Script>, Unready>>()?;
        let path = scripts.iter().map(|script| script.name.as_str()).collect::<Vec<_>>().join(", ");
        let (define, textual) = (self.define.clone(), around.textual);
        let spec = Spec { scripts, define, scale: u32::try_from(self.scale).unwrap_or(u32::MAX), textual };
        let program = Program::build(&spec);
        let program =
            program.map_err(|problems| Unready::Script { action: READING, path, problem: problems.to_string() })?;
        Ok(Arc::new(Compiled(Arc::new(program))))
    }
}

const READING: &str = "reading the script";

fn script(path: &str, weight: f64, around: &Around<'_>) -> Result<Script, Unready> {
    // Weights beside each other are what counts, and whole ones are exact.
    let weight = (weight * 1000.0).round() as u32;
    if let Some(known) = builtin::script(path) {
        return Ok(Script { weight, ..known });
    }
    let text =
        (around.file)(path).map_err(|source| Unready::File { action: READING, path: path.to_owned(), source })?;
    Ok(Script { name: script_name(path).to_owned(), text, weight })
}

/// A program, shared by all workers.
struct Compiled(Arc<Program>);

impl Ready for Compiled {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        self.0.statements()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        self.0.samples()
    }

    fn wants_names(&self, statement: u16) -> bool {
        self.0.wants_names(statement)
    }

    fn spliced(&self) -> bool {
        self.0.textual()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        let &Share { worker, workers, slots, seed, .. } = share;
        let clients = (0..slots).map(|slot| u64::from(slot) * u64::from(workers) + u64::from(worker));
        Box::new(Scripts::new(self.0.clone(), seed, clients))
    }
}

/// The four tables of the built-in scripts.
struct Branches {
    /// Branches; each has 100,000 accounts.
    scale: u32,
    partitions: Option<(NonZeroU32, bool)>,
}

/// The word of the kind in marks.
pub const MARKED: &str = "scripts";

/// The tables of so many branches.
pub fn branches(scale: u32) -> DataSet {
    DataSet::new(MARKED, Branches { scale, partitions: None })
}

/// The same with accounts in so many partitions, by range or by hash.
pub fn partitioned(scale: u32, count: NonZeroU32, by_range: bool) -> DataSet {
    DataSet::new(MARKED, Branches { scale, partitions: Some((count, by_range)) })
}

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let scale = fact("scale")?.parse().ok()?;
    let Some(count) = fact("partitions") else { return Some(branches(scale)) };
    Some(partitioned(scale, count.parse().ok()?, fact("partition_method")? == "range"))
}

impl Contents for Branches {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("scale", self.scale.to_string())];
        if let Some((count, by_range)) = self.partitions {
            let method = if by_range { "range" } else { "hash" };
            facts.extend([("partitions", count.to_string()), ("partition_method", method.to_owned())]);
        }
        facts
    }

    fn tables(&self) -> Vec<Table> {
        let most = builtin::ACCOUNTS * u64::from(self.scale);
        let partitions =
            self.partitions.map(|(count, by_range)| Partitions { count: count.get(), by_range, column: "aid", most });
        let mut tables = builtin::TABLES.to_vec();
        tables.iter_mut().filter(|table| table.key == ["aid"]).for_each(|table| table.partitions = partitions);
        tables
    }

    fn row_count(&self, table: &str) -> u64 {
        builtin::share(table) * u64::from(self.scale)
    }

    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        let share = builtin::share(table);
        Made::numbered(self.row_count(table), (part, parts), move |number, row| builtin::row(share, number, row))
    }
}
