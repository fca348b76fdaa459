//! `prony studies`: what ships, and the file of one.

use crate::args::Studies;
use crate::failure::Failure;
use crate::output;
use crate::study_file;
use std::fmt::Write as _;
use study::Study;

/// Lists the shipped studies, or prints one.
pub fn run(asked: &Studies) -> Result<(), Failure> {
    match &asked.name {
        Some(name) => one(name, asked.json),
        None if asked.json => output::print_json(&report::studies_json(&listed()?)),
        None => output::print(&table(&listed()?)),
    }
}

fn one(name: &str, as_json: bool) -> Result<(), Failure> {
    let found = study_file::find(name)?;
    if !as_json {
        return output::print(&found.text);
    }
    let only: Vec<Study> = listed()?.into_iter().filter(|study| study.name == found.name).collect();
    output::print_json(&report::studies_json(&only))
}

fn listed() -> Result<Vec<Study>, Failure> {
    let read = |shipped: &study::Shipped| {
        Study::parse(shipped.name, shipped.text).map_err(|error| study_file::failure(shipped.name, &error))
    };
    study::shipped().iter().map(read).collect()
}

fn table(studies: &[Study]) -> String {
    let width = studies.iter().map(|study| study.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for study in studies {
        let _ = writeln!(text, "{:width$}  {}", study.name, study.question);
    }
    text
}
