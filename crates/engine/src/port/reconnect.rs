//! Opening a session again that was lost in the middle of a trial.
//!
//! The one idea: a connection that an administrator or a network ends costs its transaction and no more. Only when no new
//! one can be had is the system gone.
//!
//! What it does not do: it repeats no transaction; whether the lost one was kept is for the ledger to find out.

use database::postgres::Wire;
use database::{Database, Session, Texts};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use study::Sessions;

/// What a session was opened with. One of an engine without connections opens nothing.
#[derive(Clone)]
pub(crate) struct Reconnect {
    pub(crate) database: Option<Arc<dyn Database>>,
    pub(crate) texts: Texts,
    pub(crate) how: Sessions,
}

/// A conversation with its socket.
pub(crate) type Conversation = (OwnedFd, Wire);

impl Reconnect {
    /// A new session; else why there is none.
    pub(crate) fn session(&self) -> Result<Box<dyn Session>, String> {
        let database = self.database.as_ref().ok_or_else(String::new)?;
        database.session(&self.texts, &self.how).map_err(|error| error.to_string())
    }

    /// A new conversation; else why there is none.
    pub(crate) fn conversation(&self) -> Result<Conversation, String> {
        let database = self.database.as_ref().ok_or_else(String::new)?;
        match database.conversation(&self.texts, &self.how) {
            Ok(conversation) => {
                conversation.ok_or_else(|| "the server now wants what this driver cannot do".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::tests::{Log, ScriptedDatabase, session};
    use std::os::unix::net::UnixStream;
    use study::Engine;

    #[test]
    fn an_engine_without_connections_opens_nothing_and_says_nothing() {
        let none = Reconnect { database: None, texts: Texts::none(Engine::Sqlite), how: Sessions::default() };
        assert_eq!(none.session().err().as_deref(), Some(""));
        assert_eq!(none.conversation().err().as_deref(), Some(""));
    }

    #[test]
    fn a_new_session_is_had_as_long_as_the_server_gives_one() {
        let database = ScriptedDatabase::default();
        database.sessions.lock().unwrap().push(session(&[], &Log::default()));
        let reconnect = database.reconnect();
        assert!(reconnect.session().is_ok());
        assert_eq!(reconnect.session().err().as_deref(), Some("nowhere: no connection: full"));
    }

    #[test]
    fn a_server_that_wants_what_a_conversation_cannot_do_is_told_from_one_that_is_full() {
        let database = ScriptedDatabase::default();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        database.conversations.lock().unwrap().extend([None, Some(ours)]);
        let reconnect = database.reconnect();
        assert!(reconnect.conversation().is_ok());
        let why = reconnect.conversation().err().unwrap();
        assert!(why.contains("cannot do"), "{why}");
        assert_eq!(reconnect.conversation().err().as_deref(), Some("nowhere: no connection: full"));
    }
}
