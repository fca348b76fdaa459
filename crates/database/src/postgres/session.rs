//! A session over a blocking stream.

use super::copy;
use super::wire::PostgresWire;
use crate::conversation::{Blocking, Wire as _};
use crate::{Cut, Failure, Rows, Session};
use workload::transaction::{Answers, Batch, Value};

/// A session on a PostgreSQL.
pub(crate) type PostgresSession = Blocking<PostgresWire>;

impl PostgresSession {
    /// The leading number of its version: 15.
    pub(super) fn major(&self) -> u32 {
        self.version.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
    }
}

impl Session for PostgresSession {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        self.carry_out(batch, answers)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.ask(sql).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        self.rows(sql)
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        copy::load(self, table, columns, rows)
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.wire.in_transaction())
    }

    fn cut(&self) -> Option<Cut> {
        self.cutter()
    }
}
