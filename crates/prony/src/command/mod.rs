//! One file per command, and the table that leads to them.

mod assess;
mod awake;
mod calibrate;
mod capture;
mod ceiling;
mod check;
mod clean;
mod compare;
mod completions;
mod db;
mod emulate;
mod import;
mod judge;
mod link;
mod list;
mod man;
mod note;
mod pair;
mod plan;
mod predict;
mod quick;
mod redact;
mod reference;
mod report;
mod run;
mod show;
mod studies;
mod tag;
mod tier;
mod verify;

use crate::args::Command;
use crate::exit::Outcome;
use crate::failure::Failure;

/// Runs the command that was asked for.
///
/// # Errors
/// Whatever keeps it from its end, as [`Failure`].
pub fn dispatch(command: Command) -> Result<Outcome, Failure> {
    recorder::kept_by(awake::by_another);
    // What has more to say than that it came to its end returns it.
    let ended = match command {
        Command::Quick(asked) => return quick::run(asked),
        Command::Studies(asked) => studies::run(&asked),
        Command::Check(asked) => return check::run(&asked),
        Command::Plan(asked) => plan::run(&asked),
        Command::Run(asked) => return run::run(&asked),
        Command::List(asked) => list::run(&asked),
        Command::Show(asked) => show::run(&asked),
        Command::Report(asked) => report::run(&asked),
        Command::Compare(asked) => return compare::run(&asked),
        Command::Verify(asked) => return verify::run(&asked),
        Command::Ceiling(asked) => ceiling::run(&asked),
        Command::Emulate(asked) => emulate::run(&asked),
        Command::Link(asked) => link::run(&asked),
        Command::Calibrate(asked) => calibrate::run(&asked),
        Command::Predict(asked) => predict::run(&asked),
        Command::Judge(asked) => judge::run(&asked),
        Command::Db(asked) => return db::run(&asked),
        Command::Tier(asked) => return tier::run(&asked),
        Command::Pair(asked) => return pair::run(&asked),
        Command::Assess(asked) => assess::run(&asked),
        Command::Capture(asked) => capture::run(&asked),
        Command::Import(asked) => return import::run(&asked),
        Command::Tag(asked) => tag::run(&asked),
        Command::Note(asked) => note::run(&asked),
        Command::Redact(asked) => redact::run(&asked),
        Command::Clean(asked) => clean::run(&asked),
        Command::Completions(asked) => completions::run(&asked),
        Command::Man(asked) => man::run(&asked),
        Command::Reference(asked) => reference::run(&asked),
        Command::KeepAwake => awake::run(),
    };
    ended.map(|()| Outcome::Fine)
}
