//! A script of any text is a program or a list of problems, and a program can be run to its end.

use std::sync::Arc;
use workload::sql::{Program, Script, Scripts, Spec, explain, splice};
use workload::transaction::{Answers, Batch, Begun, Business, Call, Step};

/// Explains, prints the problems, and runs what has none, in both ways of giving values to statements.
pub fn script_parser(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let explained = explain("fuzz", text);
    for textual in [false, true] {
        let script = Script { name: "fuzz".to_owned(), text: text.to_owned(), weight: 1 };
        let define = vec![("x".to_owned(), "7".to_owned())];
        match Program::build(&Spec { scripts: vec![script], define, scale: 1, textual }) {
            Err(problems) => assert!(!problems.to_string().is_empty(), "a refusal without a word"),
            Ok(program) => {
                assert!(textual || explained.problems.is_empty(), "built what was said to have problems");
                run(program);
            }
        }
    }
}

/// Every run ends: a script has no loops.
fn run(program: Program) {
    let (program, answers) = (Arc::new(program), Answers::default());
    let mut scripts = Scripts::new(program.clone(), 1, [0]);
    let (mut batch, mut sql) = (Batch::default(), String::new());
    scripts.begin(0, Begun { n: 0, payload: 0, at: units::Nanos::ZERO });
    loop {
        batch.clear();
        match scripts.step(0, &answers, &mut batch) {
            Step::Send => {
                for call in batch.calls() {
                    if let Call::Statement { statement, parameters } = call {
                        sql.clear();
                        splice(&program.statements()[usize::from(statement)].sql, parameters, &mut sql);
                    }
                }
            }
            Step::Sleep(_) => {}
            Step::Fail => return assert!(scripts.complaint(0).is_some_and(|text| text.starts_with("fuzz:"))),
            Step::Done { .. } => return,
        }
    }
}
