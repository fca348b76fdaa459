//! Prony, a performance lab for storage and databases: the program.
//!
//! This file is the table of contents: read the arguments, hand them to one command, turn what comes back into an exit
//! code. One file per command lives in `command/`; the only writer to the terminal is `output`.

mod args;
mod asked;
mod build;
mod cache;
mod checked;
mod command;
mod exit;
mod failure;
mod folder;
mod help;
mod judged;
mod model_file;
mod models;
mod output;
mod passwords;
mod rows_file;
mod run;
mod run_rows;
mod scripts;
mod study_file;

use clap::Parser as _;
use exit::ERROR;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    run::stop::survive_file_limits();
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return say_usage(&usage),
    };
    match command::dispatch(cli.command) {
        Ok(outcome) => outcome.into(),
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            output::note_failure(&failure);
            ExitCode::from(ERROR)
        }
    }
}

/// Help and version are what was asked for; anything else is an error. A closed pipe is neither.
fn say_usage(usage: &clap::Error) -> ExitCode {
    let _ = usage.print();
    if usage.use_stderr() { ExitCode::from(ERROR) } else { ExitCode::SUCCESS }
}
