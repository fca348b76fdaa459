//! One file per command, and the table that leads to them.

mod completions;
mod man;
mod reference;

use crate::Outcome;
use crate::args::Command;
use crate::failure::Failure;

/// Runs the command that was asked for.
///
/// # Errors
/// Whatever keeps it from its end, as [`Failure`].
pub fn dispatch(command: Command) -> Result<Outcome, Failure> {
    match command {
        Command::Completions(asked) => completions::run(&asked),
        Command::Man(asked) => man::run(&asked),
        Command::Reference => reference::run(),
        _ => Err(Failure::new("this command cannot run yet: the rooms that it needs are being built")),
    }
}
