//! One conversation without I/O: calls become bytes, bytes become answers.
//!
//! What it does not do: it opens no connection and reads no socket; it is handed a conversation that is ready for a batch.

use crate::Failure;
use workload::transaction::{Answers, Batch};

/// What the bytes that were fed came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing yet: read more.
    More,
    /// There are bytes to send: see [`Wire::outgoing`].
    SendMore,
    /// All calls of the batch are answered, and the next may be staged.
    Complete,
    /// The batch failed. Its transaction is rolled back and the next may be staged, unless the connection was lost.
    Failed(Failure),
}

/// A conversation, between a batch and its answers.
pub trait Wire: Send {
    /// Takes a batch, which must not be empty, when the last one is complete or failed. Bytes are ready in
    /// [`Wire::outgoing`] then.
    ///
    /// # Panics
    /// When a call names a statement that the texts do not have.
    fn stage(&mut self, batch: &Batch);

    /// Takes one text of any number of statements. It has one answer, in which the rows of one of them are kept.
    fn stage_script(&mut self, sql: &str);

    /// The bytes that are to be sent now.
    fn outgoing(&self) -> &[u8];

    /// So many of them were sent.
    fn advance(&mut self, count: usize);

    /// Takes the messages that stand at the beginning of these bytes, and adds the answers that they complete; how many bytes
    /// they were.
    fn hear(&mut self, bytes: &[u8], answers: &mut Answers) -> (usize, Progress);

    /// Bytes that came behind the last message that was understood.
    fn unread(&mut self) -> &mut Vec<u8>;

    /// Whether the last answer left a transaction open.
    fn in_transaction(&self) -> bool;

    /// What a server wants to hear before its client leaves.
    fn farewell(&self) -> &'static [u8] {
        &[]
    }

    /// Takes bytes that came in and adds the answers that they complete.
    fn feed(&mut self, bytes: &[u8], answers: &mut Answers) -> Progress {
        if self.unread().is_empty() {
            let (used, progress) = self.hear(bytes, answers);
            self.unread().extend_from_slice(&bytes[used..]);
            return progress;
        }
        let mut rest = std::mem::take(self.unread());
        rest.extend_from_slice(bytes);
        let (used, progress) = self.hear(&rest, answers);
        rest.drain(..used);
        *self.unread() = rest;
        progress
    }
}
