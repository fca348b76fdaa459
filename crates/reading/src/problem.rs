//! What is wrong with a file, or with what changes it: all of it at once, each with its place.
//!
//! The one idea: reading never stops at the first problem, so that one edit can mend them all.
//!
//! What it does not do: it prints nothing; the binary decides how a list of problems is shown.

use std::fmt;

/// Problems that are told at once. Nobody reads more, and each is compared with all others.
const TOLD_MAX: usize = 500;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// In the file; both count from 1, the column in characters.
    File {
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// On the command line, as it was typed: `--set modules=0`.
    Option(String),
    /// Nowhere: a default, or something that follows from the study as a whole.
    Whole,
}

/// One problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file, or the option as it was typed.
    pub source: String,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// Column in that line, from 1, in characters.
    pub column: Option<u32>,
    /// The key that it is about, dotted where it stands in a table: `load.outstanding`.
    pub key: String,
    /// What is wrong: the limit, then the value that was given.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Every problem that was found, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// Name of the file.
    pub file: String,
    /// At least one, when this is returned as an error.
    pub list: Vec<Problem>,
    /// Whether the text was run before. Its run stays readable, whatever a later version refuses to run.
    pub has_run: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `--on sqlite:` ends in a colon of its own.
        let quote = if self.source.ends_with(':') { "`" } else { "" };
        write!(f, "{quote}{}{quote}", self.source)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": `{}`", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.list.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
            if let Some(hint) = &problem.hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl Problems {
    /// No problems yet.
    pub fn of(file: &str) -> Problems {
        Problems { file: file.to_owned(), ..Problems::default() }
    }

    /// Adds one, unless the very same is known: expansion meets a bad value once for every trial that uses it.
    pub fn add(&mut self, at: &Origin, key: &str, message: impl Into<String>) {
        self.add_with(at, key, message, None);
    }

    /// Adds one that earlier versions did not know, unless the text was run by one of them.
    pub fn add_if_new(&mut self, at: &Origin, key: &str, message: impl Into<String>) {
        if !self.has_run {
            self.add(at, key, message);
        }
    }

    /// Adds one with a hint.
    pub fn add_with(&mut self, at: &Origin, key: &str, message: impl Into<String>, hint: Option<String>) {
        let (line, column) = match at {
            Origin::File { line, column } => (Some(*line), Some(*column)),
            Origin::Option(_) | Origin::Whole => (None, None),
        };
        let source = match at {
            Origin::Option(text) => text.clone(),
            Origin::File { .. } | Origin::Whole => self.file.clone(),
        };
        if self.list.len() > TOLD_MAX {
            return;
        }
        let problem = Problem { source, line, column, key: key.to_owned(), message: message.into(), hint };
        if self.list.contains(&problem) {
            return;
        }
        match self.list.len() {
            TOLD_MAX => {
                let message = format!("more than these {TOLD_MAX} problems: mend these first");
                self.list.push(Problem { source: self.file.clone(), message, ..Problem::default() });
            }
            _ => self.list.push(problem),
        }
    }

    /// The value of what was read; a refusal is added.
    pub fn kept<T>(&mut self, at: &Origin, key: &str, read: Result<T, impl Into<String>>) -> Option<T> {
        read.map_err(|message| self.add(at, key, message)).ok()
    }

    /// The problems, of a text that gave no value at all.
    pub fn or_none<T>(self) -> Result<T, Problems> {
        self.or(()).and_then(|()| Err(Problems::default()))
    }

    /// The value, or the problems when there are any, sorted by their place in the file.
    pub fn or<T>(mut self, value: T) -> Result<T, Problems> {
        if self.list.is_empty() {
            return Ok(value);
        }
        self.list.sort_by_key(|p| (p.line.unwrap_or(u32::MAX), p.column.unwrap_or(0)));
        Err(self)
    }
}

/// Known names with their distances from a mistyped one.
fn apart<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = (usize, &'a str)> {
    let given = given.to_lowercase().replace('-', "_");
    known.into_iter().map(move |name| (strsim::damerau_levenshtein(&given, &name.replace('-', "_")), name))
}

/// The few known names that a mistyped one resembles, the nearest first, however far.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>, few: usize) -> Vec<&'a str> {
    let mut all: Vec<_> = apart(given, known).collect();
    all.sort_unstable();
    all.into_iter().take(few).map(|(_, name)| name).collect()
}

/// The known name that a mistyped one most resembles, as a hint.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    apart(given, known)
        .filter(|(distance, name)| *distance <= (name.len().max(given.len()) / 3).max(1))
        .min()
        .map(|(_, name)| format!("did you mean `{name}`?"))
}

/// The hint for a name that is not among the known ones.
pub fn known_names<'a>(given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    did_you_mean(given, known.clone()).unwrap_or_else(|| format!("known: {}", listed(known)))
}

/// Names as a list to read: `a`, `b` and `c`.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_place_its_key_and_what_to_do() {
        let mut problems = Problems::of("flash");
        problems.add_with(
            &Origin::File { line: 12, column: 8 },
            "transfer",
            "too small",
            Some("write 512 B or more".into()),
        );
        assert_eq!(problems.to_string(), "flash:12:8: `transfer`: too small\n  hint: write 512 B or more");
    }

    #[test]
    fn the_same_problem_is_told_once() {
        let mut problems = Problems::of("x");
        problems.add(&Origin::Whole, "a", "b");
        problems.add(&Origin::Whole, "a", "b");
        assert_eq!(problems.list.len(), 1);
    }

    #[test]
    fn problems_without_end_are_told_as_far_as_anybody_reads() {
        let mut problems = Problems::of("x");
        for line in 0..100_000 {
            problems.add(&Origin::File { line, column: 1 }, "a", "b");
        }
        let told = problems.or(()).unwrap_err().list;
        assert_eq!(told.len(), TOLD_MAX + 1);
        assert_eq!(told[TOLD_MAX].to_string(), "x: more than these 500 problems: mend these first");
    }

    #[test]
    fn what_an_earlier_version_ran_is_not_refused_for_what_it_did_not_know() {
        let mut problems = Problems { has_run: true, ..Problems::of("x") };
        problems.add_if_new(&Origin::Whole, "a", "b");
        assert_eq!(problems.list, []);
        problems.has_run = false;
        problems.add_if_new(&Origin::Whole, "a", "b");
        assert_eq!(problems.list.len(), 1);
    }

    #[test]
    fn a_slip_of_one_or_two_letters_finds_its_name_and_nonsense_finds_none() {
        let known = ["transfer", "outstanding", "warm_up"];
        assert_eq!(did_you_mean("tranfser", known).as_deref(), Some("did you mean `transfer`?"));
        assert_eq!(did_you_mean("warm-up", known).as_deref(), Some("did you mean `warm_up`?"));
        assert_eq!(did_you_mean("banana", known), None);
    }
}
