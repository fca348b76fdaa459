//! The only place that writes to the terminal; and the page of a run.
//!
//! The one idea: stdout carries what another program would read and nothing else; everything said to a person while
//! something is going on goes to stderr. Colour is a help on a terminal and never carries meaning alone.
//!
//! What it does not do: it formats no findings; the report room does.

use crate::failure::Failure;
use analysis::Findings;
use report::{Colour, Detail, Layout};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::{env, fs};

/// Writes to stdout at once; a reader that went away is [`Failure::BrokenPipe`].
///
/// # Errors
/// When stdout cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::writing(&error))
}

/// Writes a JSON value to stdout, indented, with a newline.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Writes what a command has to say, as JSON where that was asked for.
///
/// # Errors
/// When stdout cannot be written.
pub fn answer(
    as_json: bool,
    json: impl FnOnce() -> serde_json::Value,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if as_json { print_json(&json()) } else { print(&text()) }
}

/// Writes to stderr. Nobody is left to tell when that fails, so that a failure is let go.
pub fn note(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A line on stderr.
pub fn note_line(text: &str) {
    note(&format!("{text}\n"));
}

/// Writes the page of a run to a file, in place of one that is there.
///
/// # Errors
/// When the file cannot be written.
pub fn page(findings: &Findings, path: &Path) -> Result<(), Failure> {
    fs::write(path, report::html(findings))
        .map_err(|error| Failure::caused(format!("writing the report `{}`", path.display()), &error))
}

/// Rows in columns, two spaces apart, a line each.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// How a report is laid out on stdout.
pub fn layout(detail: Detail) -> Layout {
    let colour = if stdout_colour() { Colour::Ansi } else { Colour::Plain };
    Layout { width: width(), colour, detail }
}

/// Whether stdout may carry colour: a terminal, not a dumb one, and `NO_COLOR` not set.
fn stdout_colour() -> bool {
    io::stdout().is_terminal() && colour_wanted()
}

/// Whether stderr may carry colour.
pub fn stderr_colour() -> bool {
    io::stderr().is_terminal() && colour_wanted()
}

/// Whether a person watches stderr.
pub fn stderr_watched() -> bool {
    io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Columns of the terminal behind stdout, held between 60 and 120; 80 where there is none, so that saved output does not
/// depend on the window in which it was made.
fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(80, |size| usize::from(size.ws_col));
    if columns == 0 { 80 } else { columns.clamp(60, 120) }
}

/// An empty `NO_COLOR` does not count, as <https://no-color.org> has it.
fn colour_wanted() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && env::var_os("TERM").is_none_or(|term| term != "dumb")
}
