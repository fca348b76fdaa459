//! From the text of a script to its commands.
//!
//! The one idea: reading never stops at a problem. A command that cannot be read is left out and the reading goes on with
//! the next line, so that all problems are told at once.

use super::command::{Action, Amount, Command, Keep, Part, UNITS, bound, gives_rows};
use super::expression::Expression;
use super::grammar;
use super::names::{Names, is_name};
use super::problem::{Places, Problem, ScriptPlace};
use super::scanner::{Scanner, Stop, Stretch};
use super::substitute::replace;
use super::token::{Misread, continuation, end_of_line, is_blank};

/// pgbench takes no more variables in a statement.
const MOST_PARAMETERS: usize = 255;

/// What was read of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Read {
    pub(super) commands: Vec<Command>,
    pub(super) problems: Vec<Problem>,
}

/// Reads a script; `textual` says that values will be spliced into the text (the simple protocol).
pub(super) fn read(name: &str, text: &str, textual: bool, names: &mut Names) -> Read {
    let mut reader = Reader { name, text, places: Places::of(text), textual, names, read: Read::default() };
    let mut scanner = Scanner::new(text);
    loop {
        let stretch = scanner.stretch();
        let stop = stretch.stop;
        reader.statements(stretch);
        match stop {
            Stop::Semicolon => {}
            Stop::Backslash => scanner.at = reader.backslash(scanner.at),
            Stop::End => break,
        }
    }
    scanner.problems.into_iter().for_each(|misread| reader.problem(misread));
    check(&reader.read.commands, textual, &mut |place, text| {
        reader.read.problems.push(Problem { script: name.to_owned(), place, text });
    });
    reader.finish()
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    places: Places<'a>,
    textual: bool,
    names: &'a mut Names,
    read: Read,
}

/// A word of a command and the byte where it begins.
type Argument<'a> = (&'a str, usize);

impl<'a> Reader<'a> {
    fn finish(mut self) -> Read {
        if self.read.commands.is_empty() && self.read.problems.is_empty() {
            self.problem(Misread { at: 0, text: "the script holds no command".to_owned() });
        }
        self.read.problems.sort_by_key(|problem| problem.place);
        self.read
    }

    fn problem(&mut self, misread: Misread) {
        let place = self.places.at(misread.at);
        self.read.problems.push(Problem { script: self.name.to_owned(), place, text: misread.text });
    }

    fn push(&mut self, at: usize, action: Action) {
        self.read.commands.push(Command { place: self.places.at(at), action });
    }

    fn statements(&mut self, stretch: Stretch) {
        let Some(at) = stretch.statements.first().map(|first| first.at) else { return };
        let mut parts = Vec::new();
        for written in stretch.statements {
            let Some(made) = replace(&written, self.textual, self.names) else {
                return self.problem(Misread::crowded(written.at));
            };
            if made.parameters.len() > MOST_PARAMETERS {
                let text = format!("{} variables in a statement; at most {MOST_PARAMETERS}", made.parameters.len());
                self.problem(Misread { at: written.at, text });
            }
            parts.push(Part {
                place: self.places.at(written.at),
                made,
                rows: gives_rows(&written.words),
                bound: bound(&written.sql, &written.words),
                written: written.sql,
            });
        }
        self.push(at, Action::Sql { parts, keep: None, first: 0 });
    }

    /// Reads the command behind a backslash and says where its line ends.
    fn backslash(&mut self, at: usize) -> usize {
        let end = end_of_line(self.text, at);
        let Some(((command, start), after)) = word(self.text, at) else { return end };
        let command = command.to_ascii_lowercase();
        if let Err(misread) = self.command(&command, start - 1, after) {
            self.problem(misread);
        }
        end
    }

    fn command(&mut self, command: &str, at: usize, after: usize) -> Result<(), Misread> {
        let action = match command {
            "set" => self.set(at, after)?,
            "setrandom" => self.set_random(at, &words(self.text, after))?,
            "if" => Action::If(grammar::expression(self.text, after, self.names)?),
            "elif" => Action::Elif(grammar::expression(self.text, after, self.names)?),
            "sleep" => self.sleep(at, &words(self.text, after))?,
            "gset" | "aset" => return self.keep(command, at, &words(self.text, after)),
            "shell" | "setshell" => {
                let text = format!(
                    "\\{command} is refused: a workload must not start programs on the machine that measures; compute the \
                     value with \\set or fetch it with \\gset"
                );
                return Err(Misread { at, text });
            }
            _ => {
                let action = match command {
                    "else" => Action::Else,
                    "endif" => Action::Endif,
                    "startpipeline" => Action::StartPipeline,
                    "syncpipeline" => Action::SyncPipeline,
                    "endpipeline" => Action::EndPipeline,
                    _ => return Err(Misread { at, text: format!("invalid command \\{command}") }),
                };
                if let Some((_, at)) = words(self.text, after).first() {
                    return Err(Misread { at: *at, text: format!("unexpected argument of \\{command}") });
                }
                action
            }
        };
        self.push(at, action);
        Ok(())
    }

    fn set(&mut self, at: usize, after: usize) -> Result<Action, Misread> {
        let Some(((name, start), after)) = word(self.text, after) else {
            return Err(Misread { at, text: "\\set needs the name of a variable and an expression".to_owned() });
        };
        let expression = grammar::expression(self.text, after, self.names)?;
        self.assigned((name, start), expression)
    }

    /// As scripts of before version 9.6 draw: `\setrandom NAME MIN MAX`, with `uniform`, `gaussian N` or `exponential N` behind.
    fn set_random(&mut self, at: usize, words: &[Argument<'a>]) -> Result<Action, Misread> {
        let (name, bounds, call) = match words {
            [name, bounds @ ..] if matches!(bounds, [_, _] | [_, _, ("uniform", _)]) => (name, &bounds[..2], "random"),
            [name, bounds @ .., ("gaussian", _), by] if bounds.len() == 2 => {
                (name, &[bounds, &[*by]].concat()[..], "random_gaussian")
            }
            [name, bounds @ .., ("exponential", _), by] if bounds.len() == 2 => {
                (name, &[bounds, &[*by]].concat()[..], "random_exponential")
            }
            _ => {
                let form = "\\setrandom needs NAME MIN MAX, and may have uniform, gaussian N or exponential N behind";
                return Err(Misread { at, text: form.to_owned() });
            }
        };
        let plain = |word: &str| match word.strip_prefix(':') {
            Some(name) => is_name(name),
            None => word.parse::<f64>().is_ok_and(f64::is_finite),
        };
        if let Some((word, at)) = bounds.iter().find(|(word, _)| !plain(word)) {
            return Err(Misread { at: *at, text: format!("a number or a :variable is needed, got {word}") });
        }
        let bounds: Vec<&str> = bounds.iter().map(|(word, _)| *word).collect();
        let drawn = grammar::expression(&format!("{call}({})", bounds.join(", ")), 0, self.names);
        self.assigned(*name, drawn.map_err(|misread| Misread { at, ..misread })?)
    }

    fn assigned(&mut self, (name, start): Argument<'_>, expression: Expression) -> Result<Action, Misread> {
        if !is_name(name) {
            let text = format!("invalid variable name: \"{name}\"; letters, digits and _ make a name, no digit first");
            return Err(Misread { at: start, text });
        }
        let variable = self.names.number(name).ok_or_else(|| Misread::crowded(start))?;
        Ok(Action::Set { variable, expression })
    }

    fn sleep(&mut self, at: usize, words: &[Argument<'a>]) -> Result<Action, Misread> {
        let refuse = |at: usize, text: String| Err(Misread { at, text });
        let (time, unit) = match words {
            [] => return refuse(at, "\\sleep needs a time".to_owned()),
            [time] => (time, None),
            [time, unit] => (time, Some(*unit)),
            [_, _, more, ..] => return refuse(more.1, "too many arguments of \\sleep".to_owned()),
        };
        let (amount, attached) = match time.0.strip_prefix(':') {
            Some(name) => (Amount::Variable(self.names.number(name).ok_or_else(|| Misread::crowded(time.1))?), None),
            None => fixed(*time)?,
        };
        let unit = match (unit, attached) {
            (Some(_), Some(_)) => {
                return refuse(time.1, format!("invalid sleep time \"{}\", must be an integer", time.0));
            }
            (None, None) => UNITS[2],
            (Some((word, at)), None) | (None, Some((word, at))) => {
                match UNITS.into_iter().find(|unit| unit.0.eq_ignore_ascii_case(word)) {
                    Some(unit) => unit,
                    None => return refuse(at, format!("unrecognized time unit \"{word}\", must be us, ms or s")),
                }
            }
        };
        Ok(Action::Sleep { amount, unit })
    }

    /// `\gset` and `\aset` belong to the statement ahead of them.
    fn keep(&mut self, command: &str, at: usize, words: &[Argument<'a>]) -> Result<(), Misread> {
        if let Some((_, at)) = words.get(1) {
            return Err(Misread { at: *at, text: format!("too many arguments of \\{command}") });
        }
        let prefix = words.first().map_or("", |(prefix, _)| prefix);
        match self.read.commands.last_mut().map(|command| &mut command.action) {
            Some(Action::Sql { keep: keep @ None, .. }) => {
                *keep = Some(Keep { all: command == "aset", prefix: prefix.to_owned(), number: 0 });
                Ok(())
            }
            _ => Err(Misread { at, text: format!("\\{command} must follow an SQL command, once") }),
        }
    }
}

/// A number with a unit behind it, such as `10ms`.
fn fixed(time: Argument<'_>) -> Result<(Amount, Option<Argument<'_>>), Misread> {
    let (text, at) = time;
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(sign + digits);
    if digits == 0 {
        return Err(Misread { at, text: format!("invalid sleep time \"{text}\", must be an integer") });
    }
    // A time that overflows is as good as the longest.
    let limit = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    let amount = Amount::Fixed(number.parse().unwrap_or(limit));
    Ok((amount, (!unit.is_empty()).then_some((unit, at + sign + digits))))
}

/// The next word of the line, and where it ends.
fn word(text: &str, mut at: usize) -> Option<(Argument<'_>, usize)> {
    let bytes = text.as_bytes();
    loop {
        if let Some(hidden) = continuation(bytes, at) {
            at += hidden;
        } else if bytes.get(at).copied().is_some_and(is_blank) {
            at += 1;
        } else {
            break;
        }
    }
    let length = bytes.get(at..)?.iter().position(|byte| is_blank(*byte) || *byte == b'\n').unwrap_or(bytes.len() - at);
    (length > 0).then(|| ((&text[at..at + length], at), at + length))
}

fn words(text: &str, mut at: usize) -> Vec<Argument<'_>> {
    let mut words = Vec::new();
    while let Some((argument, after)) = word(text, at) {
        words.push(argument);
        at = after;
    }
    words
}

// Whether conditions and pipelines of a script open and close as they should.
//
// What it does not do: a pipeline that opens or closes under a condition is judged when it runs.

/// Conditions may lie this deep in each other: whoever reads them has lost count long before.
pub(super) const DEEPEST: u32 = 100;

/// Tells every place where the structure is wrong.
pub(super) fn check(commands: &[Command], textual: bool, tell: &mut dyn FnMut(ScriptPlace, String)) {
    conditions(commands, tell);
    pipelines(commands, textual, tell);
}

fn conditions(commands: &[Command], tell: &mut dyn FnMut(ScriptPlace, String)) {
    // Where each open condition began, and whether its \else was seen.
    let mut open: Vec<(ScriptPlace, bool)> = Vec::new();
    for command in commands {
        let mut wrong = |text: &str| tell(command.place, text.to_owned());
        match (&command.action, open.last_mut()) {
            (Action::If(_), _) => {
                if open.len() == DEEPEST as usize {
                    wrong(&format!("conditions are nested deeper than {DEEPEST}; make them several scripts"));
                }
                open.push((command.place, false));
            }
            (Action::Elif(_), None) => wrong("\\elif without matching \\if"),
            (Action::Elif(_), Some((_, true))) => wrong("\\elif after \\else"),
            (Action::Else, None) => wrong("\\else without matching \\if"),
            (Action::Else, Some((_, true))) => wrong("\\else after \\else"),
            (Action::Else, Some((_, seen))) => *seen = true,
            (Action::Endif, None) => wrong("\\endif without matching \\if"),
            (Action::Endif, Some(_)) => drop(open.pop()),
            _ => {}
        }
    }
    for (place, _) in open {
        tell(place, "\\if without matching \\endif".to_owned());
    }
}

fn pipelines(commands: &[Command], textual: bool, tell: &mut dyn FnMut(ScriptPlace, String)) {
    let mut depth = 0u32;
    let mut open: Option<ScriptPlace> = None;
    for command in commands {
        let pipeline = matches!(command.action, Action::StartPipeline | Action::SyncPipeline | Action::EndPipeline);
        if pipeline && textual {
            tell(command.place, "pipelines need protocol = extended or prepared".to_owned());
            continue;
        }
        match &command.action {
            Action::If(_) => depth += 1,
            Action::Endif => depth = depth.saturating_sub(1),
            // Which way a condition goes is not known here.
            _ if pipeline && depth > 0 => return,
            Action::StartPipeline if open.is_some() => tell(command.place, "already in a pipeline".to_owned()),
            Action::StartPipeline => open = Some(command.place),
            Action::SyncPipeline | Action::EndPipeline if open.is_none() => {
                tell(command.place, "not in a pipeline; open it with \\startpipeline".to_owned());
            }
            Action::EndPipeline => open = None,
            Action::Sql { keep: Some(_), .. } if open.is_some() => {
                tell(command.place, "\\gset and \\aset are not allowed in a pipeline".to_owned());
            }
            _ => {}
        }
    }
    if let Some(place) = open {
        tell(place, "the pipeline is never closed; close it with \\endpipeline".to_owned());
    }
}
