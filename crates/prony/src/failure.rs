//! How the program says that it cannot go on.
//!
//! The one idea: `error:` names what was being done, to what, and the limit that was broken; `caused by:` lines walk the
//! chain of causes; after a blank line every `hint:` is an action. Errors that other rooms define become one of these
//! at the border of a command, with the hint that fits there.
//!
//! What it does not do: it ends nothing. `main` turns a failure into text and exit code 2.

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use study::Problem;
use study::password::without_passwords;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// Something is wrong; told on stderr, exit code 2.
    Told(Told),
    /// The reader of stdout went away (`prony show | head`): nothing is wrong and nothing is said.
    BrokenPipe,
}

/// What is told.
#[derive(Debug, Default)]
pub struct Told {
    what: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl Failure {
    /// A failure without a deeper cause; `what` is `<what was being done, to what>: <limit>, got <value>`.
    pub fn new(what: impl Into<String>) -> Failure {
        Failure::Told(Told { what: what.into(), ..Told::default() })
    }

    /// What was being done when `cause` came; its sources follow as further causes.
    pub fn caused(doing: impl Into<String>, cause: &(dyn Error + 'static)) -> Failure {
        Failure::Told(Told { what: doing.into(), causes: chain(cause), hints: Vec::new() })
    }

    /// Adds an action that may help.
    #[must_use]
    pub fn hint(mut self, action: impl Into<String>) -> Failure {
        if let Failure::Told(told) = &mut self {
            told.hints.push(action.into());
        }
        self
    }

    /// Adds actions that may help, where there are any.
    #[must_use]
    pub fn hints(self, actions: impl IntoIterator<Item = String>) -> Failure {
        actions.into_iter().fold(self, Failure::hint)
    }

    /// A failed write to stdout: a closed pipe is no failure of ours.
    pub fn writing(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::caused("cannot write to stdout", error),
        }
    }
}

impl Told {
    /// The same as a problem of a study.
    pub fn problem(&self) -> Problem {
        let message = [vec![self.what.clone()], self.causes.clone()].concat().join(": ");
        let hint = Some(self.hints.join("; ")).filter(|hint| !hint.is_empty());
        Problem { message, hint, ..Problem::default() }
    }

    /// The whole text, ending with a newline. `bold` marks the words that lead a line; the words stand there either way.
    pub fn text(&self, bold: bool) -> String {
        let mark = |word: &str, code: &str| if bold { format!("\x1b[1;{code}m{word}\x1b[0m") } else { word.to_owned() };
        let mut text = format!("{} {}\n", mark("error:", "31"), indent(&self.what));
        for cause in &self.causes {
            let _ = writeln!(text, "caused by: {}", indent(cause));
        }
        if !self.hints.is_empty() {
            text.push('\n');
        }
        for hint in &self.hints {
            let _ = writeln!(text, "{} {}", mark("hint:", "36"), indent(hint));
        }
        // What was typed is often repeated, and any of it may be a URL.
        without_passwords(&text)
    }
}

/// The texts of an error and its sources; a source that its parent has already repeated is left out.
pub fn chain(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if !texts.last().is_some_and(|last| last.contains(&text)) {
            texts.push(text);
        }
        next = error.source();
    }
    texts
}

/// Further lines of a text stand under its first.
fn indent(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("opening `run.prony`")]
    struct Opening(#[source] io::Error);

    #[test]
    fn causes_are_walked_and_hints_stand_apart() {
        let failure = Failure::caused("cannot show the run", &Opening(io::Error::other("disk on fire")))
            .hint("put it out")
            .hint("try `prony list`");
        let Failure::Told(told) = failure else { panic!("not told") };
        assert_eq!(
            told.text(false),
            "error: cannot show the run\ncaused by: opening `run.prony`\ncaused by: disk on fire\n\n\
             hint: put it out\nhint: try `prony list`\n"
        );
    }

    #[test]
    fn a_source_that_its_parent_repeats_is_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("reading: {0}")]
        struct Reading(#[source] io::Error);
        assert_eq!(chain(&Reading(io::Error::other("gone"))), ["reading: gone"]);
    }

    #[test]
    fn a_closed_pipe_is_not_told() {
        assert!(matches!(Failure::writing(&io::Error::from(io::ErrorKind::BrokenPipe)), Failure::BrokenPipe));
    }

    #[test]
    fn colour_only_adds_to_the_words() {
        let told = Told { what: "it broke".into(), causes: vec![], hints: vec!["mend it".into()] };
        let plain = told.text(true).replace("\x1b[1;31m", "").replace("\x1b[1;36m", "").replace("\x1b[0m", "");
        assert_eq!(plain, told.text(false));
    }
}
