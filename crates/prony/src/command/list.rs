//! `prony list DIR`: the runs in a folder.

use crate::args::List;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::folder::{self, Entry};
use crate::output;
use report::ListedRun;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Lists the runs in a folder, oldest first.
pub fn run(asked: &List) -> Result<Outcome, Failure> {
    let dir = asked.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let runs: Vec<ListedRun> = folder::scan(&dir)?.iter().map(listed).collect();
    if asked.json {
        output::print_json(&report::list_json(&runs))?;
    } else if runs.is_empty() {
        output::note_line(&format!("no runs in {}; `prony quick` makes the first", dir.display()));
    } else {
        output::print(&table(&runs))?;
    }
    Ok(Outcome::Fine)
}

fn listed(entry: &Entry) -> ListedRun {
    let path = entry.path.strip_prefix(Path::new(".")).unwrap_or(&entry.path);
    let facts = entry.content.as_ref().ok().map(|content| &content.facts);
    ListedRun {
        file: path.display().to_string(),
        run: facts.map(|facts| facts.id.clone()),
        study: facts.map(|facts| facts.study.clone()),
        started_unix_ns: facts.map(|facts| facts.started_unix_ns),
        systems: facts.map(|facts| facts.systems.iter().map(|s| s.name.clone()).collect()).unwrap_or_default(),
        trials: entry.content.as_ref().ok().map(|content| content.trials),
        finished: facts.map(|facts| facts.finished),
        tags: facts.map(|facts| facts.tags.clone()).unwrap_or_default(),
        problem: entry.content.as_ref().err().map(ToString::to_string),
    }
}

fn table(runs: &[ListedRun]) -> String {
    let mut rows = vec![["RUN", "STUDY", "SYSTEMS", "TRIALS", "STATE", "TAGS"].map(str::to_owned)];
    rows.extend(runs.iter().filter(|run| run.problem.is_none()).map(row));
    let widths: Vec<usize> =
        (0..6).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    for run in runs.iter().filter(|run| run.problem.is_some()) {
        let _ = writeln!(text, "{}: cannot be read: {}", run.file, run.problem.as_deref().unwrap_or_default());
    }
    text
}

fn row(run: &ListedRun) -> [String; 6] {
    [
        run.run.clone().unwrap_or_default(),
        run.study.clone().unwrap_or_default(),
        run.systems.join(", "),
        run.trials.unwrap_or_default().to_string(),
        if run.finished == Some(true) { "finished" } else { "unfinished" }.to_owned(),
        run.tags.join(", "),
    ]
}
