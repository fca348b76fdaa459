//! A bank's night: interest and charges for every account, statements, the ledger, and the cut-off of the period.
//!
//! The one idea: a transaction settles a span of accounts, all or nothing, by a few statements over the whole span; which accounts
//! are settled stands in the data. So a night that was killed is run again over all spans, finds in each what is left of it, and
//! posts nothing twice. The other side of interest and charges lies on the own account of the branch, by one order of each for the
//! branch, to which every span adds: so the books at the end do not tell how long spans were or how many jobs there were. Jobs
//! meet on these rows alone, at the end of a span, and only where a branch is that of both.
//!
//! What it does not do: items with value dates of a period that is settled are not settled again.

mod business;
mod machine;
mod statements;
mod work;
mod workload;

use super::scale::FIRST_ORDER;
pub use business::Night;
pub use statements::{samples, statements};
pub use work::{KEYS, Spec, read};

/// The period that a night settles: the days of the history.
const PERIOD: i64 = 1;
