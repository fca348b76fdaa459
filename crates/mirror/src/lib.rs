//! Runs mirrored pairs: their servers, who follows whom, what the mirror lacks, and whether both hold the same.
//!
//! The one idea: [`pair::Life`] decides, and this room sees and does. A [`Pair`] looks at its nodes, tells its life what it saw, writes
//! down what is to be done, and carries it out through [`Nodes`], which know only how. A command that is killed in between
//! leaves its orders behind for the next.
//!
//! Clients write on a pair in lock step through [`Serving`], which looks after it as long as it runs.
//!
//! What it does not do: nobody else watches a pair between two commands. A lost mirror is noticed by the next command, and commits
//! that wait for it wait until then.

mod act;
mod added;
mod compare;
mod doubt;
mod error;
mod group;
mod home;
mod left;
mod lock_step;
mod nodes;
mod resync;
mod rows;
mod run;
mod seen;
mod serve;
mod servers;
#[cfg(test)]
mod tests;

pub use compare::{Compared, Left, Table, differs};
pub use error::MirrorError;
pub use home::{Asked, Home, Kind};
pub use nodes::{Nodes, Rows};
pub use run::Pair;
pub use seen::{List, Seen, SeenNode};
pub use serve::{Server, Serving, is_in_step};
pub use servers::Servers;
