//! What a script's statements would give, for a database that holds no rows.
//!
//! The one idea: a script goes on behind `\\gset` only when one row came back, so its statement gives one, with a column
//! for every variable that the script may read from it.
//!
//! What it does not do: it reads no SQL. Rows that no variable is made of are not given.

use super::Program;
use super::program::{GIVEN, What};
use super::variables::Held;
use crate::transaction::{Sample, Value};

impl Program {
    /// One entry a statement; nothing for those whose answers are not kept.
    pub fn samples(&self) -> Vec<Option<Sample>> {
        self.kept.iter().map(|kept| kept.as_deref().map(|prefix| self.sample(prefix))).collect()
    }

    fn sample(&self, prefix: &str) -> Sample {
        let fetched = (0..self.names.len() as u16).filter(|variable| !self.has_source(*variable));
        let names = fetched.filter_map(|variable| self.names.name(variable).strip_prefix(prefix));
        let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Sample::new(1.0, vec![vec![Value::Int(1); names.len()]]).named(names.into())
    }

    /// Whether a variable gets its value otherwise: given, defined, or set by a script.
    fn has_source(&self, variable: u16) -> bool {
        let defined = self.defined.get(usize::from(variable)).is_some_and(|held| *held != Held::Nothing);
        let mut steps = self.scripts.iter().flat_map(|script| &script.steps);
        usize::from(variable) < GIVEN.len()
            || defined
            || steps.any(|step| matches!(&step.what, What::Set(set, _) if *set == variable))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Script, Spec};
    use super::*;
    use crate::transaction::{Answers, Turn};

    #[test]
    fn a_statement_ahead_of_gset_gives_one_row_with_the_variables_that_nothing_else_sets() {
        let text = "\\set aid 7\nselect 1 as bal, 2 as far \\gset\nselect :bal + :far + :aid + :scale;\n";
        let script = Script { name: "own".into(), text: text.into(), weight: 1 };
        let spec = Spec { scripts: vec![script], define: vec![], scale: 1, textual: false };
        let samples = Program::build(&spec).unwrap().samples();
        let (mut answers, mut turn) = (Answers::default(), Turn::default());
        samples[0].as_ref().unwrap().answer(&mut turn, &mut answers);
        assert_eq!(answers.names(0).unwrap().to_vec(), ["bal", "far"]);
        assert_eq!((answers.get(0).row_count(), samples[1].is_none()), (1, true));
    }
}
