//! `prony check STUDY`: every problem at once, nothing touched.

use crate::args::Check;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use crate::run::tiers;
use crate::scripts;
use crate::study_file::{self, StudyText};
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
    tiers::check(study.systems())?;
    output::print(&format!("{}: no problems; {}\n", text.origin, summary(&study)))?;
    Ok(Outcome::Fine)
}

fn as_json(text: &StudyText, read: &Result<Study, Problems>) -> Result<Outcome, Failure> {
    let problems = match read {
        Ok(study) => {
            let tiers = match tiers::check(study.systems()) {
                Err(Failure::Told(told)) => Some(told.problem()),
                _ => None,
            };
            scripts::slip(study).into_iter().chain(tiers).collect()
        }
        Err(problems) => problems.list.clone(),
    };
    output::print_json(&report::check_json(&text.origin, &problems))?;
    Ok(if problems.is_empty() { Outcome::Fine } else { Outcome::Unsound })
}

fn summary(study: &Study) -> String {
    let systems: Vec<&str> = study.systems().iter().map(|system| system.name.as_str()).collect();
    format!("{}, on {}", study.title, systems.join(" and "))
}
