//! The only place that writes to the terminal; and the page of a run.
//!
//! The one idea: stdout carries what another program would read and nothing else; everything said to a person while
//! something is going on goes to stderr. Colour is a help on a terminal and never carries meaning alone. What run files, studies
//! and servers say stands in these texts too, so control characters are shown and not sent, but for our own colours.
//!
//! What it does not do: it formats no findings; the report room does.

use crate::failure::Failure;
use analysis::Findings;
use report::{Colour, Detail, Layout};
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Writes to stdout at once; a reader that went away is [`Failure::BrokenPipe`].
///
/// # Errors
/// When stdout cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(harmless(text, stdout_colour()).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::writing(&error))
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
    let _ = io::stderr().lock().write_all(harmless(text, stderr_colour()).as_bytes());
}

/// The sequences by which we colour.
const COLOURS: [&str; 8] =
    ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m", "\x1b[1;36m"];

/// The text with control characters, and those that turn the direction of writing, as `\u001b`: so that no name moves the cursor,
/// hides what stands beside it or speaks to the terminal. JSON stays JSON.
pub fn harmless(text: &str, coloured: bool) -> Cow<'_, str> {
    if !text.contains(report::harms) {
        return Cow::Borrowed(text);
    }
    let (mut clean, mut rest) = (String::with_capacity(text.len() + 16), text);
    while let Some((at, found)) = rest.char_indices().find(|(_, c)| report::harms(*c)) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        match COLOURS.iter().find(|colour| coloured && from.starts_with(**colour)) {
            Some(colour) => {
                clean.push_str(colour);
                rest = &from[colour.len()..];
            }
            None => {
                clean.push_str(&report::shown(found));
                rest = &from[found.len_utf8()..];
            }
        }
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// A line on stderr.
pub fn note_line(text: &str) {
    note(&format!("{text}\n"));
}

/// Writes the page of a run to a file, in place of a page that is there.
///
/// # Errors
/// When the file cannot be written, or is there and is no page; it is then as it was.
pub fn page(findings: &Findings, path: &Path) -> Result<(), Failure> {
    only_a_page(path)?;
    replace(path, report::html(findings).as_bytes())
        .map_err(|error| Failure::caused(format!("writing the report `{}`", path.display()), &error))
}

/// The name that a page is given when nobody names one: it is not written through a link, and not into what is no file.
///
/// # Errors
/// When something else than a file has that name.
pub fn page_beside(run: &Path) -> Result<PathBuf, Failure> {
    let path = run.with_extension("html");
    match fs::symlink_metadata(&path) {
        Ok(found) if !found.is_file() => {
            let kind = if found.is_symlink() { "a link" } else { "no regular file" };
            Err(Failure::new(format!("writing the report `{}`: it is {kind}, and it stays as it is", path.display()))
                .hint("name another file, or this one if it is meant: -o FILE"))
        }
        _ => Ok(path),
    }
}

/// Refuses a file that is there and is no page that Prony wrote: a run, for one, that was named in place of its page.
///
/// # Errors
/// When it is such a file, or cannot be read.
pub fn only_a_page(path: &Path) -> Result<(), Failure> {
    const MARK: &[u8] = b"<meta name=\"generator\" content=\"Prony ";
    let doing = format!("writing the report `{}`", path.display());
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    // A pipe or a terminal takes a page; what a device holds would be gone.
    if found.file_type().is_block_device() {
        return Err(Failure::new(format!("{doing}: it is a block device, and it stays as it is"))
            .hint("name a file of a file system: -o FILE"));
    }
    if !found.is_file() || found.len() == 0 {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.map_err(|error| Failure::caused(doing.clone(), &error))?;
    if head.windows(MARK.len()).any(|bytes| bytes == MARK) {
        return Ok(());
    }
    Err(Failure::new(format!("{doing}: a file is there that is no page of Prony, and it stays as it is"))
        .hint("name another file, or move that one away"))
}

/// Writes a file whole, or leaves what was there: it is written beside and renamed. What is no regular file, such as a pipe, is
/// written into as it is.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let there = fs::metadata(&target).ok();
    if there.as_ref().is_some_and(|found| !found.is_file()) {
        return fs::write(&target, content);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let permissions = there.map_or_else(|| fs::Permissions::from_mode(0o666), |found| found.permissions());
    let made = tempfile::Builder::new().prefix(".prony-").permissions(permissions).tempfile_in(folder);
    let mut beside = match made {
        // A folder that takes no new file may hold one that can be written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return fs::write(&target, content),
        made => made?,
    };
    beside.write_all(content)?;
    beside.as_file().sync_all()?;
    beside.persist(&target)?;
    Ok(())
}

/// A failure on stderr, when something else decides the exit code.
pub fn note_failure(failure: &Failure) {
    if let Failure::Told(told) = failure {
        note(&told.text(stderr_colour()));
    }
}

/// Characters that a column is padded to at most.
const WIDEST: usize = 1000;

/// A text that stays on its line: no name makes a line of its own.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\n', &report::shown('\n')).replace('\t', &report::shown('\t')))
}

/// Rows in columns, two spaces apart, a line each.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| on_one_line(cell).into_owned())).collect();
    let length = |row: &[String; N], column: usize| row[column].chars().count();
    // A longer cell moves those behind it, in its own row alone.
    let width = |column| rows.iter().map(|row| length(row, column)).max().unwrap_or_default().min(WIDEST);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        let hostile = "a\x1b]0;title\x07b\rc\x1b[2Jd\u{9b}31me\u{202e}f\x7f\x1b[8mg\n\th\x08";
        let shown = "a\\u001b]0;title\\u0007b\\u000dc\\u001b[2Jd\\u009b31me\\u202ef\\u007f\\u001b[8mg\n\th\\u0008";
        assert_eq!((harmless(hostile, false), harmless(hostile, true)), (shown.into(), shown.into()));
        assert_eq!(harmless("ä \x1b[1;31merror:\x1b[0m €", true), "ä \x1b[1;31merror:\x1b[0m €");
        assert_eq!(harmless("\x1b[31mred", false), "\\u001b[31mred");
    }

    #[test]
    fn a_cell_makes_no_line_of_its_own() {
        let rows = [["a\nb\tc".to_owned(), "d".to_owned()]];
        assert_eq!(columns(&rows), "a\\u000ab\\u0009c  d\n");
    }

    #[test]
    fn a_page_beside_a_run_follows_no_link_and_enters_no_pipe() {
        let folder = tempfile::tempdir().expect("a folder");
        let (run, page) = (folder.path().join("h.prony"), folder.path().join("h.html"));
        assert_eq!(page_beside(&run).ok(), Some(page.clone()));
        std::os::unix::fs::symlink("other.html", &page).expect("a link");
        assert!(page_beside(&run).is_err());
        fs::remove_file(&page).expect("it is ours");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &page, kind, mode, 0).expect("a pipe");
        assert!(page_beside(&run).is_err());
    }

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({ "name\u{202e}": "a\u{7f}\u{9b}\x1b[2J" });
        let text = format!("{value:#}\n");
        let printed = harmless(&text, false);
        assert!(!printed.contains(['\u{202e}', '\u{7f}', '\u{9b}', '\x1b']));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).expect("JSON"), value);
    }

    #[test]
    fn a_page_is_there_whole_or_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let (page, link) = (folder.path().join("page.html"), folder.path().join("link.html"));
        replace(&page, b"old").expect("written");
        std::os::unix::fs::symlink(&page, &link).expect("a link");
        fs::set_permissions(&page, fs::Permissions::from_mode(0o640)).expect("its owner may");
        let old = fs::File::open(&page).expect("it is there");
        replace(&link, b"new").expect("written");
        assert_eq!(fs::read(&page).expect("it is there"), b"new");
        assert_eq!(io::read_to_string(old).expect("who reads the old one reads on"), "old");
        assert_eq!(fs::metadata(&page).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
        assert!(replace(&folder.path().join("no/page.html"), b"x").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 2);
    }
}
