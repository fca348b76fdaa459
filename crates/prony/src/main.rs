//! Prony, a performance lab for storage: the program.
//!
//! This file is the table of contents: read the arguments, hand them to one command, turn what comes back into an exit
//! code. One file per command lives in `command/`; the only writer to the terminal is `output`.

mod args;
mod build;
mod cache;
mod checked;
mod command;
mod failure;
mod folder;
mod judged;
mod model_file;
mod models;
mod output;
mod run;
mod run_rows;
mod scripts;
mod study_file;

use clap::Parser as _;
use failure::Failure;
use std::process::ExitCode;

/// A threshold or a comparison failed.
const FAILED: u8 = 1;
/// Something went wrong, or was stopped.
pub const ERROR: u8 = 2;

/// What a command that went to its end has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Fine,
    /// A threshold or a comparison failed: exit code 1.
    Failed,
    /// What was asked about is in error, and stdout says how: exit code 2.
    Unsound,
}

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return say_usage(&usage),
    };
    match command::dispatch(cli.command) {
        Ok(Outcome::Fine) | Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(FAILED),
        Ok(Outcome::Unsound) => ExitCode::from(ERROR),
        Err(Failure::Told(told)) => {
            output::note(&told.text(output::stderr_colour()));
            ExitCode::from(ERROR)
        }
    }
}

/// Help and version are what was asked for; anything else is an error. A closed pipe is neither.
fn say_usage(usage: &clap::Error) -> ExitCode {
    let _ = usage.print();
    if usage.use_stderr() { ExitCode::from(ERROR) } else { ExitCode::SUCCESS }
}
