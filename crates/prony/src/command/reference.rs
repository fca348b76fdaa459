//! `prony reference PAGE` (hidden): the pages of `docs/reference/` as Markdown.
//!
//! The one idea: the pages are printed from the definitions that the program itself works by, and a test holds the files to
//! what is printed here, so that the reference is never older than the program.

use crate::args::{Cli, Page, Reference};
use crate::failure::Failure;
use crate::output;
use clap::{Arg, Command, CommandFactory as _};
use std::fmt::Write as _;

/// Prints a page.
pub fn run(asked: &Reference) -> Result<(), Failure> {
    let page = match asked.page {
        Page::Cli => command_line(),
        Page::Keys => keys(),
    };
    output::print(&page)
}

/// The keys of a study file, by the tables in which they stand.
fn keys() -> String {
    let mut text = String::from(
        "# The keys of a study\n\nMade from the program's own definitions; edit those, not this page.\n\n\
         Every key may be set in the study, be a factor with several levels, or be given on the command line as \
         `--set KEY=VALUE`. Where one is set twice, the narrower place wins: a stream over its experiment, an experiment over \
         its workload, and the command line over all.\n",
    );
    for group in study::groups() {
        let (title, place) = (group.title(), group.place());
        let _ = write!(
            text,
            "\n## {title}\n\n{place}\n\n| key | values | default | what it does |\n| --- | --- | --- | --- |\n"
        );
        for key in group.keys() {
            let default = match key.default().strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
                Some(words) => words.to_owned(),
                None => format!("`{}`", key.default()),
            };
            let (allowed, help) = (key.allowed().replace('|', "\\|"), key.help().replace('|', "\\|"));
            let _ = writeln!(text, "| `{}` | {allowed} | {default} | {help} |", key.name());
        }
    }
    text
}

fn command_line() -> String {
    let mut cli = Cli::command();
    cli.build();
    let mut text =
        String::from("# The command line\n\nMade from the program's own definitions; edit those, not this page.\n");
    let _ = write!(text, "\n{}\n", prose(cli.get_long_about().map(ToString::to_string)));
    let _ = write!(text, "\n{}", examples(&cli));
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        section(&mut text, command);
        let inner = command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
        inner.for_each(|command| section(&mut text, command));
    }
    text
}

fn section(text: &mut String, command: &Command) {
    let _ = write!(text, "\n## {}\n\n", command.get_bin_name().unwrap_or_default());
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "```text\n{}\n```\n\n", usage.trim_start_matches("Usage: "));
    let _ = writeln!(text, "{}", prose(command.get_long_about().map(ToString::to_string)));
    let mut arguments: Vec<&Arg> =
        command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
    arguments.sort_by_key(|arg| arg.get_long().is_some());
    if !arguments.is_empty() {
        text.push_str("\n| argument | what it does |\n| --- | --- |\n");
    }
    for argument in arguments {
        let help = argument.get_long_help().or_else(|| argument.get_help());
        let help = prose(help.map(ToString::to_string)).replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(text, "| {} | {help} |", spelled(argument));
    }
    let _ = write!(text, "\n{}", examples(command));
}

/// How an argument is typed, in code marks: `-o`, `--output FILE`.
fn spelled(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes_value = argument.get_action().takes_values();
    let value = value.filter(|_| takes_value);
    let Some(long) = argument.get_long() else {
        return format!("`{}`", value.unwrap_or_default());
    };
    let short = argument.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    format!("{short}`--{long}{}`", value.map(|value| format!(" {value}")).unwrap_or_default())
}

/// What follows the help: the examples as a block of code, then whatever else is said.
fn examples(command: &Command) -> String {
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let mut text = String::new();
    for (index, paragraph) in after.split("\n\n").enumerate() {
        match paragraph.strip_prefix("Examples:\n") {
            Some(lines) => {
                let lines: Vec<&str> = lines.lines().map(str::trim).collect();
                let _ = write!(text, "```sh\n{}\n```\n", lines.join("\n"));
            }
            None => {
                let _ = writeln!(text, "{}{paragraph}", if index > 0 { "\n" } else { "" });
            }
        }
    }
    text
}

fn prose(text: Option<String>) -> String {
    text.unwrap_or_default()
}
