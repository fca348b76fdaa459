//! Who works beside the load of a trial, as a mover between tiers does.
//!
//! The one idea: what runs trials knows when they begin and end, and nothing of what is done meanwhile; whoever knows that is handed in.

use crate::failure::Failure;
use database::Database;
use observation::Event;
use std::sync::Arc;
use study::{SystemSpec, Trial};

/// One who works beside the load.
pub trait Beside {
    /// Gets ready on the database, while nothing is measured.
    fn ready(&mut self, database: &Arc<dyn Database>);

    /// The trial's clock begins.
    fn begin(&self);

    /// Ends it: what was done.
    ///
    /// # Errors
    /// What kept it from its work.
    fn end(self: Box<Self>) -> Result<Vec<Event>, Failure>;
}

/// Who works beside a trial on a system; nobody where none is asked for.
pub type Makes = fn(&Trial, &SystemSpec) -> Option<Box<dyn Beside>>;
