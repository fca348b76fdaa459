//! How the program ends: what a command that went to its end has to say, as an exit code.

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

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Fine => ExitCode::SUCCESS,
            Outcome::Failed => ExitCode::from(FAILED),
            Outcome::Unsound => ExitCode::from(ERROR),
        }
    }
}
