//! `prony list DIR`: the runs in a folder.

use crate::args::List;
use crate::failure::Failure;
use crate::folder::{self, Entry};
use crate::output;
use observation::RunFacts;
use report::ListedRun;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Lists the runs in a folder, oldest first.
pub fn run(asked: &List) -> Result<(), Failure> {
    let dir = asked.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let entries = folder::scan(&dir)?;
    let runs: Vec<ListedRun> = entries.iter().map(listed).collect();
    if asked.json {
        output::print_json(&report::list_json(&runs))?;
    } else if runs.is_empty() {
        output::note_line(&format!("no runs in {}; `prony quick` makes the first", dir.display()));
    } else {
        output::print(&table(&runs))?;
    }
    Ok(())
}

fn listed(entry: &Entry) -> ListedRun<'_> {
    let path = entry.path.strip_prefix(Path::new(".")).unwrap_or(&entry.path);
    let content = entry.content.as_ref().map(|content| (&content.facts, content.trials));
    ListedRun { file: path.display().to_string(), content: content.map_err(ToString::to_string) }
}

fn table(runs: &[ListedRun]) -> String {
    let mut rows = vec![["RUN", "STUDY", "SYSTEMS", "TRIALS", "STATE", "TAGS"].map(str::to_owned)];
    rows.extend(runs.iter().filter_map(|run| run.content.as_ref().ok()).map(row));
    let mut text = output::columns(&rows);
    for run in runs {
        if let Err(problem) = &run.content {
            let _ = writeln!(text, "{}: cannot be read: {problem}", run.file);
        }
    }
    text
}

fn row((facts, trials): &(&RunFacts, u32)) -> [String; 6] {
    let systems: Vec<&str> = facts.systems.iter().map(|system| system.name.as_str()).collect();
    [
        facts.id.clone(),
        facts.study.clone(),
        systems.join(", "),
        trials.to_string(),
        match (facts.finished, facts.running) {
            (true, _) => "finished",
            (false, true) => "running",
            (false, false) => "unfinished",
        }
        .to_owned(),
        facts.tags.join(", "),
    ]
}
