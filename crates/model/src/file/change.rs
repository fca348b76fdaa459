//! What if: a machine with some of its numbers changed for one question.
//!
//! The one idea: a changed machine is a description like any other. A number that a question states is given, so that it is
//! no longer in doubt, and its origin says what the file had.

use super::{Description, Parameter, parameter};
use reading::{Origin, Problems, did_you_mean, listed};

impl Description {
    /// This machine with other numbers: names of parameters, each with a number as text.
    ///
    /// # Errors
    /// A name that the kind does not ask for, a number outside of its range, a name twice, or numbers that make no sense
    /// together; all of them at once.
    pub fn changed(&self, changes: &[(String, String)]) -> Result<Description, Problems> {
        let (mut new, mut problems) = (self.clone(), Problems::of(&self.name));
        for (place, (name, text)) in changes.iter().enumerate() {
            if changes[..place].iter().any(|(earlier, _)| earlier == name) {
                problems.add(&Origin::Whole, name, "a change names a parameter once, got it twice");
            } else {
                new.change(name, text, &mut problems);
            }
        }
        if problems.list.is_empty() {
            new.conflict(|_| Origin::Whole, &mut problems);
        }
        problems.or(new)
    }

    fn change(&mut self, name: &str, text: &str, problems: &mut Problems) {
        let Some(place) = self.kind.asks().iter().position(|asked| asked.name == name) else {
            let names = || self.kind.asks().iter().map(|asked| asked.name);
            let hint = did_you_mean(name, names()).unwrap_or_else(|| format!("it has {}", listed(names())));
            let message = format!("a {} has no such parameter", self.kind.word());
            return problems.add_with(&Origin::Whole, name, message, Some(hint));
        };
        let asked = &self.kind.asks()[place];
        match parameter::number(asked, text) {
            Ok(value) => {
                let was = &self.parameters[place];
                let source = format!("asked for; the file says {} ({})", was.value, was.origin.text());
                self.state(place, value, source);
            }
            Err(message) => problems.add(&Origin::Whole, name, message),
        }
    }

    /// A number that somebody states, by its place: it is given, and no longer in doubt.
    pub(crate) fn state(&mut self, place: usize, value: f64, source: String) {
        let asked = &self.kind.asks()[place];
        self.parameters[place] = Parameter::given(asked, value, source);
        self.doubt.iter_mut().for_each(|doubt| doubt.forget(asked.name));
    }

    /// Numbers that are each in their range and make no sense together.
    pub(super) fn conflict(&self, at: impl Fn(&str) -> Origin, problems: &mut Problems) {
        if let Err((name, message)) = self.with_values(|kind, values| kind.fits(values)) {
            problems.add(&at(name), &format!("parameters.{name}"), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    fn f5100() -> Description {
        let shipped = crate::models().iter().find(|model| model.name == "f5100").expect("it ships");
        crate::file::read(shipped.name, shipped.text).unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn with(name: &str, text: &str) -> Result<Description, Problems> {
        f5100().changed(&[(name.to_owned(), text.to_owned())])
    }

    #[test]
    fn a_changed_number_answers_and_is_no_longer_in_doubt() {
        let table = rows::read("row_id,test,transfer_kb,modules\na,random_read_4k,4,1\n").unwrap();
        let (row, changed) = (&table.rows[0], with("module_reads", "10_000").unwrap());
        assert!((changed.answer(row, "rate").unwrap() - 10_000.0).abs() < 1e-6);
        let width = |model: &Description| {
            let (low, high) = model.interval(row, "rate", 0.0);
            high / low
        };
        assert!(width(&changed) < width(&f5100()), "what is stated is not in doubt");
        let text = changed.parameter("module_reads").unwrap().origin.text();
        assert!(text.starts_with("given: asked for; the file says 20994.8 (calibrated: "), "{text}");
        assert!(changed.doubt.unwrap().covariance.iter().all(|line| line.len() == 14));
    }

    #[test]
    fn a_change_is_refused_as_the_file_would_be() {
        let refused = |name: &str, text: &str| with(name, text).unwrap_err().to_string();
        assert!(refused("module_raeds", "1").contains("did you mean `module_reads`?"));
        assert!(refused("modules", "0").contains("`modules`: a whole number from 1 to 100000, got `0`"));
        assert!(refused("modules", "two").contains("got `two`"));
        let twice = [("modules".to_owned(), "1".to_owned()), ("modules".to_owned(), "2".to_owned())];
        assert!(f5100().changed(&twice).unwrap_err().to_string().contains("got it twice"));
    }
}
