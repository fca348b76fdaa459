//! Opening a session again that was lost in the middle of a trial.
//!
//! The one idea: a connection that an administrator or a network ends costs its transaction and no more. Only when no new
//! one can be had is the system gone. A server that is reached may say nothing for as long as its patience lasts, so each way
//! in is a thread of its own: sessions that share the worker's thread go on meanwhile, and whoever waits sees a stop.
//!
//! What it does not do: it repeats no transaction; whether the lost one was kept is for the ledger to find out.

use crate::worker::thread::elsewhere;
use database::{Conversation, Database, DatabaseError, Session, Texts};
use recorder::{Clock as _, WallClock};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;
use study::Sessions;

/// Conversations that are opened again at once; a server that lost all of them has to take all of them.
const AT_ONCE: usize = 8;

/// Between two looks whether the trial ends meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// What a session was opened with. One of an engine without connections opens nothing.
#[derive(Clone)]
pub(crate) struct Reconnect {
    pub(crate) database: Option<Arc<dyn Database>>,
    /// Whether anybody takes sessions: one that is about to be taken over is waited for.
    pub(crate) served: Arc<AtomicBool>,
    pub(crate) texts: Texts,
    pub(crate) how: Sessions,
    /// How long a server that takes no sessions is asked again; none where its loss ends the trial.
    pub(crate) patience: Duration,
}

/// Why there is no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// The trial ends, so that nobody needs one.
    Stopped,
    /// In words; none for an engine without connections.
    Refused(String),
}

impl From<DatabaseError> for Unopened {
    fn from(error: DatabaseError) -> Unopened {
        match error {
            DatabaseError::Stopped => Unopened::Stopped,
            error => Unopened::Refused(error.to_string()),
        }
    }
}

impl Reconnect {
    /// A new session; waits for it until the trial ends.
    pub(crate) fn session(&self, halt: &AtomicBool) -> Result<Box<dyn Session>, Unopened> {
        let over = Over::default();
        let opening = self.begin(&over, |database, texts, how| Ok(database.session(texts, how)?));
        loop {
            if halt.load(Ordering::Relaxed) {
                return Err(Unopened::Stopped);
            }
            match opening.recv_timeout(LOOK) {
                Ok(opened) => return opened,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(broke()),
            }
        }
    }

    /// A new conversation, which is there when it is.
    fn conversation(&self, over: &Over) -> Receiver<Result<Conversation, Unopened>> {
        self.begin(over, |database, texts, how| {
            let other = || Unopened::Refused("the server now wants what this driver cannot do".to_owned());
            database.conversation(texts, how)?.ok_or_else(other)
        })
    }

    fn begin<T: Send + 'static>(
        &self,
        over: &Over,
        open: impl Fn(&dyn Database, &Texts, &Sessions) -> Result<T, Unopened> + Send + 'static,
    ) -> Receiver<Result<T, Unopened>> {
        let (Reconnect { database, served, texts, how, patience }, over) = (self.clone(), over.0.clone());
        elsewhere(move || {
            let database = database.ok_or(Unopened::Refused(String::new()))?;
            while !served.load(Ordering::Acquire) {
                std::thread::sleep(LOOK);
            }
            let clock = WallClock::new();
            let begun = clock.now();
            loop {
                let waited = Duration::from_nanos(clock.now().saturating_sub(begun).0);
                match open(&*database, &texts, &how) {
                    Err(Unopened::Refused(_)) if waited < patience && !over.load(Ordering::Relaxed) => {
                        std::thread::sleep(LOOK);
                    }
                    opened => return opened,
                }
            }
        })
    }
}

/// Whether nobody needs a session any more: it is so when this is gone.
#[derive(Default)]
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The thread ended without a word: it was never there, or panicked.
fn broke() -> Unopened {
    Unopened::Refused("the attempt to open one broke".to_owned())
}

/// Conversations that are being opened again.
pub(crate) struct Reopening {
    reconnect: Reconnect,
    over: Over,
    /// Those that wait until others are through.
    asked: VecDeque<usize>,
    under_way: Vec<(usize, Receiver<Result<Conversation, Unopened>>)>,
}

impl Reopening {
    pub(crate) fn new(reconnect: Reconnect) -> Reopening {
        Reopening { reconnect, over: Over::default(), asked: VecDeque::new(), under_way: Vec::new() }
    }

    /// Begins to open the conversation of this number again.
    pub(crate) fn ask(&mut self, index: usize) {
        self.asked.push_back(index);
        self.go_on();
    }

    fn go_on(&mut self) {
        while self.under_way.len() < AT_ONCE {
            let Some(index) = self.asked.pop_front() else { return };
            self.under_way.push((index, self.reconnect.conversation(&self.over)));
        }
    }

    /// Whether any is on its way.
    pub(crate) fn any(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// The next that is there, or will not come, with its number.
    pub(crate) fn next(&mut self) -> Option<(usize, Result<Conversation, Unopened>)> {
        let (at, opened) =
            self.under_way.iter().enumerate().find_map(|(at, (_, opening))| match opening.try_recv() {
                Ok(opened) => Some((at, opened)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some((at, Err(broke()))),
            })?;
        let (index, _) = self.under_way.swap_remove(at);
        self.go_on();
        Some((index, opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::tests::{Log, ScriptedDatabase, session};
    use std::os::unix::net::UnixStream;
    use study::Engine;

    fn refused(why: &str) -> Option<Unopened> {
        Some(Unopened::Refused(why.to_owned()))
    }

    static GO: AtomicBool = AtomicBool::new(false);

    #[test]
    fn an_engine_without_connections_opens_nothing_and_says_nothing() {
        let none = Reconnect {
            database: None,
            served: Arc::default(),
            texts: Texts::none(Engine::Sqlite),
            how: Sessions::default(),
            patience: Duration::ZERO,
        };
        assert_eq!(none.session(&GO).err(), refused(""));
        assert_eq!(none.conversation(&Over::default()).recv().unwrap().err(), refused(""));
    }

    #[test]
    fn a_new_session_is_had_as_long_as_the_server_gives_one_and_the_trial_goes_on() {
        let database = ScriptedDatabase::default();
        database.sessions.lock().unwrap().push(session(&[], &Log::default()));
        let reconnect = database.reconnect();
        assert!(reconnect.session(&GO).is_ok());
        assert_eq!(reconnect.session(&GO).err(), refused("nowhere: no connection: full"));
        assert_eq!(reconnect.session(&AtomicBool::new(true)).err(), Some(Unopened::Stopped));
    }

    #[test]
    fn a_server_that_is_away_is_asked_again_until_it_is_back_or_nobody_waits_any_more() {
        let (database, log) = (Arc::new(ScriptedDatabase::default()), Log::default());
        let patience = Duration::from_secs(60);
        let reconnect =
            Reconnect { patience, database: Some(database.clone()), ..ScriptedDatabase::default().reconnect() };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(3 * LOOK);
                database.sessions.lock().unwrap().push(session(&[], &log));
            });
            assert!(reconnect.session(&GO).is_ok());
        });
        let over = Over::default();
        let opening = reconnect.conversation(&over);
        drop(over);
        assert_eq!(opening.recv().unwrap().err(), refused("nowhere: no connection: full"));
    }

    #[test]
    fn a_server_that_wants_what_a_conversation_cannot_do_is_told_from_one_that_is_full() {
        let database = ScriptedDatabase::default();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        database.conversations.lock().unwrap().extend([None, Some(ours)]);
        let reconnect = database.reconnect();
        let over = Over::default();
        let opened = || reconnect.conversation(&over).recv().unwrap();
        assert!(opened().is_ok());
        assert_eq!(opened().err(), refused("the server now wants what this driver cannot do"));
        assert_eq!(opened().err(), refused("nowhere: no connection: full"));
    }

    #[test]
    fn conversations_beyond_those_that_are_opened_at_once_wait_for_their_turn() {
        let database = ScriptedDatabase::default();
        let mut reopening = Reopening::new(database.reconnect());
        (0..3 * AT_ONCE).for_each(|index| reopening.ask(index));
        let mut seen = Vec::new();
        while reopening.any() {
            assert!(reopening.under_way.len() <= AT_ONCE);
            seen.extend(reopening.next().map(|(index, opened)| (index, opened.is_ok())));
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..3 * AT_ONCE).map(|index| (index, false)).collect::<Vec<_>>());
    }
}
