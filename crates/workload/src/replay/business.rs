//! The sessions of one worker, each with its place in the trace.

use super::literals::answered;
use super::program::{Program, Said};
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::Nanos;

/// Where a session is.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    /// Whose transactions it sends.
    session: usize,
    /// The next of them, and how often the trace was gone through.
    next: usize,
    round: u64,
    /// The one that is under way, how many of its statements were sent, and whether the pause before the next is over.
    now: usize,
    sent: usize,
    paused: bool,
}

/// Sends a trace again.
pub(super) struct Replay {
    program: Arc<Program>,
    /// How many transactions all workers have drawn, where no moment is kept: so the mix is the trace's, whoever is slow.
    drawn: Arc<AtomicUsize>,
    clients: Vec<Client>,
}

impl Replay {
    /// The sessions of a worker's slots.
    pub(super) fn new(program: Arc<Program>, drawn: Arc<AtomicUsize>, sessions: Vec<usize>) -> Replay {
        let clients = sessions.into_iter().map(|session| Client { session, ..Client::default() }).collect();
        Replay { program, drawn, clients }
    }
}

impl Business for Replay {
    fn class(&mut self, _n: u64, _payload: u64) -> u16 {
        0
    }

    fn due(&mut self, slot: u32) -> Option<Nanos> {
        let Client { session, next, round, .. } = self.clients[slot as usize];
        let passed = self.program.window.0.saturating_mul(round);
        let at = self.program.sessions[session][next].at;
        self.program.paced.then(|| Nanos(passed.saturating_add(at.0)))
    }

    fn begin(&mut self, slot: u32, _begun: Begun) {
        let client = &mut self.clients[slot as usize];
        let of_session = self.program.sessions[client.session].len();
        if !self.program.paced {
            client.next = self.drawn.fetch_add(1, Ordering::Relaxed) % of_session;
        }
        (client.now, client.sent, client.paused) = (client.next, 0, false);
        client.next += 1;
        if client.next == of_session {
            (client.next, client.round) = (0, client.round + 1);
        }
    }

    fn step(&mut self, slot: u32, _answers: &Answers, batch: &mut Batch) -> Step {
        let client = &mut self.clients[slot as usize];
        let said = &self.program.sessions[client.session][client.now].said;
        let Some((pause, what)) = said.get(client.sent) else {
            return Step::Done { rolled_back: matches!(said.last(), Some((_, Said::Rollback))) };
        };
        if *pause > Nanos::ZERO && !client.paused {
            client.paused = true;
            return Step::Sleep(*pause);
        }
        (client.sent, client.paused) = (client.sent + 1, false);
        match what {
            Said::Begin => batch.begin(true),
            Said::Commit => batch.commit(),
            Said::Rollback => batch.rollback(),
            Said::Statement(statement, values) => batch.call(*statement, values.iter().cloned()),
        }
        Step::Send
    }

    fn answered(&self, words: String) -> String {
        answered(&words, self.program.statements.iter().map(|one| one.name.as_str()))
    }

    fn restart(&mut self, slot: u32) {
        let client = &mut self.clients[slot as usize];
        (client.sent, client.paused) = (0, false);
    }

    fn ended(&mut self, _slot: u32, _ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {}
}
