//! The file of a trace: a line for each statement.
//!
//! The one idea: fields stand between tabs, with backslashes as in PostgreSQL's `COPY`, so that a trace can be read, cut and
//! counted with the usual tools.

use std::fmt::Write as _;
use units::Nanos;

/// The first line of a file, with the version of its form.
const FIRST: &str = "prony-trace 1";

/// A statement, as somebody heard it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// When it began, from the beginning of the window.
    pub at: Nanos,
    /// Whose it was, from 0.
    pub session: u32,
    /// How long it took, where that was heard.
    pub took: Option<Nanos>,
    /// Its text.
    pub sql: String,
    /// Values that were sent beside its text, null or as texts; none where all values stand in the text.
    pub parameters: Option<Vec<Option<String>>>,
}

/// What was heard in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Which server it was, in words.
    pub server: String,
    /// How long was listened; above zero.
    pub window: Nanos,
    /// By the moment at which they began.
    pub heard: Vec<Heard>,
}

impl Trace {
    /// Sessions that said something.
    pub fn sessions(&self) -> u32 {
        self.heard.iter().map(|heard| heard.session + 1).max().unwrap_or(0)
    }

    /// The text of its file.
    pub fn write(&self) -> String {
        let mut text = format!("{FIRST}\t{}\t{}\n", self.window.0, escaped(&self.server));
        for Heard { at, session, took, sql, parameters } in &self.heard {
            let took = took.map_or_else(|| "-".to_owned(), |took| took.0.to_string());
            let how = if parameters.is_some() { "values" } else { "text" };
            // Writing into a string cannot fail.
            let _ = write!(text, "{}\t{session}\t{took}\t{how}\t{}", at.0, escaped(sql));
            for value in parameters.iter().flatten() {
                text.push('\t');
                text.push_str(&value.as_deref().map_or_else(|| "\\N".to_owned(), escaped));
            }
            text.push('\n');
        }
        text
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The first line that is none of a trace, in words.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let mut lines = text.lines().enumerate();
        let first: Vec<&str> = lines.next().map(|(_, line)| line.split('\t').collect()).unwrap_or_default();
        let (window, server) = match first.as_slice() {
            [FIRST, window, server] => (window.parse().ok().filter(|window| *window > 0), unescaped(server)),
            _ => return Err(format!("the first line is not that of a trace (`{FIRST}`); `prony capture` writes one")),
        };
        let window = Nanos(window.ok_or("line 1: the window is a number of nanoseconds above 0")?);
        let heard = lines.filter(|(_, line)| !line.is_empty());
        let heard = heard.map(|(at, line)| line_of(line).ok_or_else(|| {
            format!("line {}: nanoseconds, session, nanoseconds taken or `-`, `text` or `values`, and a statement are needed between tabs", at + 1)
        }));
        let mut heard: Vec<Heard> = heard.collect::<Result<_, String>>()?;
        heard.sort_by_key(|heard| heard.at);
        Ok(Trace { server, window, heard })
    }
}

fn line_of(line: &str) -> Option<Heard> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (at, session, took) = (Nanos(next()?.parse().ok()?), next()?.parse().ok()?, next()?);
    let took = if took == "-" { None } else { Some(Nanos(took.parse().ok()?)) };
    let (values, sql) = (next()? == "values", unescaped(next()?));
    let parameters = fields.map(|value| (value != "\\N").then(|| unescaped(value))).collect();
    Some(Heard { at, session, took, sql, parameters: values.then_some(parameters) })
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        whole.push(match letter {
            '\\' => match letters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            letter => letter,
        });
    }
    whole
}
