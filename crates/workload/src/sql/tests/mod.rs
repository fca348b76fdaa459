//! Scripts as a whole: a session that answers from a list stands in for the server.

mod explained;
mod expressions;
mod reading;
mod running;
mod substitution;

use super::scalar::Held;
use super::{Problems, Program, Script, Scripts, Spec};
use crate::transaction::{Answers, Batch, Begun, Business, Step};
use std::sync::Arc;
use units::Nanos;

fn spec(texts: &[&str]) -> Spec {
    let script = |text: &&str| Script { name: "test".to_owned(), text: (*text).to_owned(), weight: 1 };
    let scripts = texts.iter().map(script).collect();
    Spec { scripts, define: vec![], scale: 10, textual: false }
}

fn built(spec: &Spec) -> Result<Scripts, Problems> {
    Ok(Scripts::new(Arc::new(Program::build(spec)?), 42, [5, 9]))
}

/// One script, ready to begin its first transaction in slot 0.
fn one(text: &str) -> Result<Scripts, Problems> {
    let mut scripts = built(&spec(&[text]))?;
    scripts.begin(0, begun(0));
    Ok(scripts)
}

fn begun(n: u64) -> Begun {
    Begun { n, payload: 0, at: Nanos::ZERO }
}

/// Runs the transaction of slot 0 to its end without any answers; its complaint when it fails.
fn ran(scripts: &mut Scripts) -> Result<(), String> {
    let mut batch = Batch::default();
    loop {
        batch.clear();
        match scripts.step(0, &Answers::default(), &mut batch) {
            Step::Done { .. } => return Ok(()),
            Step::Fail => return Err(scripts.complaint(0).unwrap()),
            Step::Send | Step::Sleep(_) => {}
        }
    }
}

/// The problems of a script, as they are told.
fn problems(text: &str) -> Vec<String> {
    match one(text) {
        Ok(_) => vec![],
        Err(problems) => problems.0.iter().map(ToString::to_string).collect(),
    }
}

impl Scripts {
    /// What a variable of slot 0 holds.
    fn variable(&self, name: &str) -> Held {
        let number = self.program.names.find(name).unwrap();
        self.clients[0].variables.0[usize::from(number)].clone()
    }
}
