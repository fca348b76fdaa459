//! One session on MariaDB or MySQL, over a blocking stream.

use super::place::Place;
use super::wire::MariadbWire;
use super::{costs, load};
use crate::conversation::{Blocking, Wire as _};
use crate::{Cut, DatabaseError, Failure, Rows, Session, Texts};
use std::sync::atomic::AtomicBool;
use study::Sessions;
use workload::transaction::{Answers, Batch, Value};

/// One session.
pub struct MariadbSession {
    pub(super) inside: Blocking<MariadbWire>,
    /// Where the costs of its statements are left when it ends, where they are counted.
    pub(super) total: Option<costs::Total>,
}

impl MariadbSession {
    /// Opens a session whose calls name `texts` by their places.
    ///
    /// # Errors
    /// Why there is no session: an address, a user, a database, a version.
    pub fn open(place: &Place, texts: &Texts, sessions: &Sessions) -> Result<MariadbSession, DatabaseError> {
        place.enter_until(texts, sessions, &AtomicBool::new(false)).map(MariadbSession::from)
    }
}

impl From<Blocking<MariadbWire>> for MariadbSession {
    fn from(inside: Blocking<MariadbWire>) -> MariadbSession {
        MariadbSession { inside, total: None }
    }
}

impl Drop for MariadbSession {
    fn drop(&mut self) {
        if let Some(total) = self.total.take() {
            costs::leave(&mut self.inside, &total);
        }
        self.inside.leave();
    }
}

impl Session for MariadbSession {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        self.inside.carry_out(batch, answers)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        // The server cuts the text itself, so that bodies of procedures stay whole.
        self.inside.ask(sql).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        self.inside.rows(sql)
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        let road = load::road(&mut self.inside)?;
        load::load(&mut self.inside, road, &load::Into { table, columns }, rows)
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.inside.wire.in_transaction())
    }

    fn cut(&self) -> Option<Cut> {
        self.inside.cutter()
    }
}
