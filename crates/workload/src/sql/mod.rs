//! The user's own transactions, in the script language of pgbench, unchanged.
//!
//! The one idea: a script is read once into numbered instructions ([`Program`]), which all workers share; a worker's
//! [`Scripts`] interprets them for its slots, each of which is a client in the sense of pgbench.
//!
//! **What a session has to know.** Parameters of statements are `$1`, `$2`, ... in the order of the text, each occurrence
//! of a variable one of its own. In the simple protocol ([`Spec::textual`]) the session makes the text with [`splice`],
//! which puts values in without quotes, exactly as pgbench does; in the others it binds them. For statements of which
//! [`Program::wants_names`] says so, the session names the columns of the answer.
//!
//! **What differs from pgbench.** The random numbers are our own, with the same distributions. A client whose expression
//! fails is not given up: that transaction counts as failed. Statements joined by `\;` are calls of one batch, so that
//! they work in every protocol. `debug` prints nothing. `\shell` and `\setshell` are refused.

pub mod builtin;
mod command;
mod evaluate;
mod explain;
mod expression;
mod fault;
mod grammar;
mod hash;
pub mod keys;
mod names;
mod problem;
mod program;
mod random;
mod reader;
mod run;
mod scalar;
mod scanner;
mod scripts;
mod substitute;
mod token;
mod workload;

pub use explain::{Explained, Explanation, Note, explain};
pub use keys::{KEYS, read};
pub use problem::{Problem, Problems, ScriptPlace};
pub use program::{Program, Script, Spec};
pub use scanner::{OPENS, between_dollars, passed};
pub(crate) use scanner::{comment, quote};
pub use scripts::Scripts;
pub use substitute::splice;
pub use workload::{Asked, MARKED, branches, described, partitioned, script_name};

#[cfg(test)]
mod tests;
