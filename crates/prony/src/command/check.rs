//! `prony check STUDY`: every problem at once, nothing touched.

use crate::args::Check;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use crate::scripts::{self, Slip};
use crate::study_file::{self, StudyText};
use report::{CheckProblem, CheckedStudy};
use study::{Problems, Study};

/// Says what is wrong with a study, or that nothing is.
pub fn run(asked: &Check) -> Result<Outcome, Failure> {
    let text = study_file::find(&asked.choice.study)?;
    let read = study_file::read(&text, &asked.choice.changes, &[]);
    if asked.json {
        return as_json(&text, &read);
    }
    let study = read.map_err(|problems| study_file::failure(&text.origin, &problems))?;
    scripts::check(&study)?;
    output::print(&format!("{}: no problems; {}\n", text.origin, summary(&study)))?;
    Ok(Outcome::Fine)
}

fn as_json(text: &StudyText, read: &Result<Study, Problems>) -> Result<Outcome, Failure> {
    let problems: Vec<CheckProblem> = match read {
        Ok(study) => scripts::slip(study).into_iter().map(in_script).collect(),
        Err(problems) => problems.list.iter().map(problem).collect(),
    };
    let outcome = if problems.is_empty() { Outcome::Fine } else { Outcome::Unsound };
    output::print_json(&report::check_json(&CheckedStudy { study: text.origin.clone(), problems }))?;
    Ok(outcome)
}

/// Its place stands in its text: it lies in no line of the study.
fn in_script(slip: Slip) -> CheckProblem {
    CheckProblem { line: None, column: None, message: slip.text, hints: vec![slip.hint.to_owned()] }
}

fn problem(found: &study::Problem) -> CheckProblem {
    let named =
        if found.key.is_empty() { found.message.clone() } else { format!("`{}`: {}", found.key, found.message) };
    CheckProblem {
        line: found.line,
        column: found.column,
        message: if found.line.is_none() { format!("{}: {named}", found.source) } else { named },
        hints: found.hint.iter().cloned().collect(),
    }
}

fn summary(study: &Study) -> String {
    let systems: Vec<&str> = study.systems().iter().map(|system| system.name.as_str()).collect();
    format!("{}, on {}", study.title, systems.join(" and "))
}
