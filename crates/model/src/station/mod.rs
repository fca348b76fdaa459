//! Stations: where work waits and is done.
//!
//! The one idea: a station owns its queue and its clockwork and knows nothing of events. It is told who arrives and when,
//! and says when who is done; whoever owns the agenda turns that into events. All memory is taken when it is built.

mod bucket;
mod ceiling;
mod commit;
mod link;
mod load_watch;
mod pool;
mod priority;
mod shares;
mod sharing;
mod turns;

pub use bucket::Bucket;
pub use ceiling::ceiling;
pub use commit::Commit;
pub use link::{FIBRE_NS_PER_KM, Link};
pub use load_watch::{Inside, Watch};
pub use pool::{Pool, Servers};
pub use priority::Priority;
pub use shares::{Share, Shares};
pub use sharing::{Sharing, Soonest};
pub use turns::Turns;

/// Who is served: an index into the requests of whoever owns the station.
pub type Who = u32;

#[cfg(test)]
mod tests;
