//! Why an expression has no value, or a command of a script cannot be carried out.
//!
//! The one idea: a fault is a small value, so that an expression costs nothing for being able to fail; words are found
//! only when somebody asks.

/// What went wrong while a script ran.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Fault {
    #[error("cannot coerce {from} to {to}")]
    Coerce { from: &'static str, to: &'static str },
    #[error("double to int overflow for {0}")]
    DoubleTooLarge(f64),
    #[error("the value is out of range for a whole number of 64 bits")]
    IntTooLarge,
    #[error("the value is neither a number nor a truth; in an expression it must be one")]
    Malformed,
    #[error("bigint {0} out of range")]
    Overflow(&'static str),
    #[error("division by zero")]
    DivisionByZero,
    #[error("empty range given to random: {from} to {to}")]
    EmptyRange { from: i64, to: i64 },
    #[error("random range is too large: {from} to {to}; it may hold 2^63 - 1 numbers")]
    LargeRange { from: i64, to: i64 },
    #[error("gaussian parameter must be at least 2 (not {0})")]
    Gaussian(f64),
    #[error("zipfian parameter must be in range [1.001, 1000] (not {0})")]
    Zipfian(f64),
    #[error("exponential parameter must be greater than zero (not {0})")]
    Exponential(f64),
    #[error("permute size parameter must be greater than zero (not {0})")]
    Permute(i64),
    #[error("undefined variable")]
    Undefined(u16),
    #[error("expected one row, got {0}")]
    Rows(usize),
    #[error("invalid variable name: \"{0}\"; give the column a name with AS")]
    Name(Box<str>),
    #[error("the session did not say what the columns are called")]
    Unnamed,
    #[error("invalid sleep time \"{0}\"")]
    Sleep(Box<str>),
    #[error("already in a pipeline")]
    InPipeline,
    #[error("not in a pipeline")]
    NoPipeline,
    #[error("not allowed in a pipeline, because answers come back at its end")]
    GetInPipeline,
    #[error("the script ended with its pipeline open; close it with \\endpipeline")]
    OpenPipeline,
}
