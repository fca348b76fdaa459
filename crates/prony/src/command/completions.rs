//! `prony completions SHELL`: made from the definitions of the help.

use crate::args::{Cli, Completions};
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory as _;

/// Prints the completions of one shell.
pub fn run(asked: &Completions) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(asked.shell, &mut Cli::command(), "prony", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}
