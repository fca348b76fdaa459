//! `prony import pgbench FILE`: what is understood of a script, before anything runs.
//!
//! The one idea: scripts run unchanged, so that there is nothing to convert; what whoever brings one needs is to see what each
//! command does here, and where that differs from pgbench.

use crate::args::{Import, ImportPgbench};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use serde_json::{Value, json};
use std::fmt::Write as _;
use workload::sql::{Explained, Explanation, ScriptPlace, explain};

/// Explains a file.
pub fn run(asked: &Import) -> Result<Outcome, Failure> {
    match asked {
        Import::Pgbench(asked) => pgbench(asked),
    }
}

fn pgbench(asked: &ImportPgbench) -> Result<Outcome, Failure> {
    let path = asked.file.display().to_string();
    let text = system::text::read(&asked.file)
        .map_err(|error| Failure::caused(format!("reading the script `{path}`"), &error))?;
    let explanation = explain(workload::sql::script_name(&path), &text);
    output::answer(asked.json, || as_json(&explanation), || as_text(&path, &explanation))?;
    Ok(if explanation.problems.is_empty() { Outcome::Fine } else { Outcome::Unsound })
}

fn as_text(path: &str, explanation: &Explanation) -> String {
    let verdict = match explanation.problems.len() {
        0 => format!(
            "can be run: prony run sql --on postgres://USER@HOST/DATABASE --set script={}",
            units::for_shell(path)
        ),
        count => format!("cannot be run, because of {}", units::counted(count as u64, "problems")),
    };
    let mut text = format!("{}: {verdict}\n", explanation.name);
    let mut part = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        lines.iter().for_each(|line| {
            let _ = writeln!(text, "  {}", line.trim_end());
        });
    };
    part("problems", explanation.problems.iter().map(|problem| told(problem.place, &problem.text)).collect());
    let command = |command: &Explained| {
        let deep = "  ".repeat(command.depth as usize);
        format!("{:<8}{deep}{:<10} {}", place(command.place), command.kind, command.text)
    };
    part("commands", explanation.commands.iter().map(command).collect());
    part("variables", variables(explanation));
    part("statements as the server sees them", explanation.statements.clone());
    part("notes", explanation.notes.iter().map(|note| told(note.place, &note.text)).collect());
    text
}

fn variables(explanation: &Explanation) -> Vec<String> {
    let line = |what: &str, names: &[String]| (!names.is_empty()).then(|| format!("{what:<6} {}", names.join(", ")));
    let needs = line("needs", &explanation.needs).map(|line| format!("{line} (--set define=NAME=VALUE)"));
    [line("reads", &explanation.reads), line("sets", &explanation.sets), needs].into_iter().flatten().collect()
}

fn told(at: ScriptPlace, text: &str) -> String {
    format!("{:<8}{text}", place(at))
}

fn place(place: ScriptPlace) -> String {
    format!("{}:{}", place.line, place.column)
}

fn as_json(explanation: &Explanation) -> Value {
    let told = |at: ScriptPlace, text: &str| json!({ "line": at.line, "column": at.column, "text": text });
    let command = |command: &Explained| {
        json!({
            "line": command.place.line,
            "column": command.place.column,
            "kind": command.kind,
            "text": command.text,
            "depth": command.depth,
        })
    };
    json!({
        "schema": "prony/import/1",
        "name": explanation.name,
        "ok": explanation.problems.is_empty(),
        "commands": explanation.commands.iter().map(command).collect::<Vec<_>>(),
        "reads": explanation.reads,
        "sets": explanation.sets,
        "needs": explanation.needs,
        "statements": explanation.statements,
        "notes": explanation.notes.iter().map(|note| told(note.place, &note.text)).collect::<Vec<_>>(),
        "problems": explanation.problems.iter().map(|problem| told(problem.place, &problem.text)).collect::<Vec<_>>(),
    })
}
