//! The help of commands and arguments in full, as `help.md` has it.
//!
//! The one idea: what `args.rs` says in one line stands there in whole paragraphs, as prose and not as code.
//!
//! What it does not do: it knows no command and no argument; one that the file does not name has no more than its line.

use clap::Command;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Each section by its head: a command as it is typed, or an argument as `Struct.field`.
static SECTIONS: LazyLock<BTreeMap<&'static str, String>> =
    LazyLock::new(|| include_str!("help.md").split("\n## ").skip(1).map(section).collect());

fn section(text: &'static str) -> (&'static str, String) {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    (head, body.trim_end().split("\n\n").map(joined).collect::<Vec<_>>().join("\n\n"))
}

/// The lines of a paragraph as one; a line that begins with two blanks stays one of its own.
fn joined(paragraph: &str) -> String {
    let mut text = String::new();
    for line in paragraph.lines() {
        let between = if line.starts_with("  ") { "\n" } else { " " };
        text.extend([if text.is_empty() { "" } else { between }, line]);
    }
    text
}

/// The help of an argument in full; none where that is its `line`.
pub fn argument(of: &str, field: &str, line: &str) -> Option<&'static str> {
    SECTIONS.get(&*format!("{of}.{field}")).map(String::as_str).filter(|full| *full != line)
}

/// A command and those inside of it with their help in full: what they do, and behind the arguments their examples.
pub fn told(path: &str, command: Command) -> Command {
    let path = format!("{path} {}", command.get_name());
    let Some(full) = SECTIONS.get(&*path).map(String::as_str) else { return command };
    let (about, examples) = full.split_at(full.find("Examples:\n").unwrap_or(full.len()));
    let examples = Some(examples).filter(|examples| !examples.is_empty());
    command.mut_subcommands(|inner| told(&path, inner)).long_about(about.trim_end()).after_long_help(examples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;

    /// What a command and those inside of it say in full, of themselves and of their arguments.
    fn gathered(command: &Command, said: &mut Vec<String>) {
        let about = command.get_long_about().map(ToString::to_string);
        said.extend(about.into_iter().map(|about| match command.get_after_long_help() {
            Some(examples) => format!("{about}\n\n{examples}"),
            None => about,
        }));
        let helps = command.get_arguments().filter_map(|one| one.get_long_help().or(one.get_help()));
        said.extend(helps.map(ToString::to_string));
        command.get_subcommands().for_each(|inner| gathered(inner, said));
    }

    #[test]
    fn every_section_is_the_help_of_a_command_or_of_an_argument() {
        let mut said = Vec::new();
        gathered(&Cli::command(), &mut said);
        for (head, full) in &*SECTIONS {
            assert!(said.contains(full), "nobody says what stands under `{head}`");
        }
    }
}
