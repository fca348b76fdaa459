//! A session with the null database, in this process or with a socket in between.
//!
//! The one idea: what is answered is the same either way; a socket only adds the way there and back.

use super::replies::Replies;
use super::socket::Socket;
use crate::{Failure, FailureKind, Rows, Session};
use workload::transaction::{Answers, Batch, Value};

/// Where answers come from.
#[derive(Debug)]
pub(super) enum Answering {
    /// This process.
    Here(Replies),
    /// The other end of a socket.
    There(Socket),
}

impl Session for Answering {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        match self {
            Answering::Here(replies) => {
                batch.calls().for_each(|call| replies.answer(super::replies::asked(call), answers))
            }
            Answering::There(socket) => {
                let lost = |error: std::io::Error| Failure::new(FailureKind::Lost, error.to_string());
                socket.run(batch, answers).map_err(lost)?;
            }
        }
        Ok(())
    }

    fn script(&mut self, _sql: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        Ok(Vec::new())
    }

    // Takes all rows and keeps none.
    fn load(&mut self, _table: &str, _columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        let (mut row, mut count) = (Vec::new(), 0);
        while rows.next(&mut row) {
            count += 1;
        }
        Ok(count)
    }
}
