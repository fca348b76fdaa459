//! Reads of a client on the node that it chose, where that is not the primary.
//!
//! The one idea: what stands in no transaction and can only read is asked there, in a session that is read-only; whatever that refuses, and
//! whatever else is said, the primary answers. Before it is asked, what this client committed is waited for there, so that a client sees its
//! own work.
//!
//! What it does not do: it makes no snapshot across both nodes. What others committed may be seen there a moment later than on the primary.

use super::client::{Client, End, Go, Said};
use super::conn::{Conn, error, is_slow, message, put, query, text};
use super::words::is_read;
use crate::rows::quoted;
use pair::Node;
use std::collections::HashSet;
use std::rc::Rc;

/// An answer of up to so many bytes is kept until it is whole: as long as nothing of it was passed on, the primary may be asked instead.
const KEPT: usize = 1 << 20;

/// A batch of the extended protocol that is longer goes to the primary.
const BATCH: usize = 64 << 10;

/// What the session on the primary is set to, and whether it has tables of its own, which nobody else sees.
const SET: &str = "SELECT name, setting FROM pg_settings WHERE source = 'session' AND name NOT LIKE 'transaction\\_%' \
                   AND name <> 'default_transaction_read_only' UNION ALL SELECT name, current_setting(name) FROM \
                   unnest('{session_authorization,role}'::text[]) name UNION ALL SELECT 'temporary tables', count(*)::text FROM pg_class \
                   WHERE relnamespace = pg_my_temp_schema()";

/// A client's session on the other node.
pub(super) struct Aside {
    node: Node,
    parameters: Vec<(String, String)>,
    conn: Option<Conn>,
    /// Statements that it was told of by name.
    known: HashSet<String>,
    /// What it is set to.
    set: Vec<Vec<String>>,
    /// Whether the session on the primary may be set to something else by now.
    pub(super) stale: bool,
    /// A commit of this client that the node was told of and may not have carried out.
    pub(super) lacks: Option<String>,
}

impl Aside {
    pub(super) fn new(node: Node, parameters: &[(String, String)]) -> Aside {
        let parameters = parameters.to_vec();
        Aside { node, parameters, conn: None, known: HashSet::new(), set: Vec::new(), stale: true, lacks: None }
    }

    fn close(&mut self) {
        (self.conn, self.stale) = (None, true);
        self.known.clear();
        self.set.clear();
    }
}

/// What a client said at once in the extended protocol.
#[derive(Default)]
struct Batch {
    heard: Vec<u8>,
    /// What goes before it, and the names of the statements in that: two answers each.
    told: Vec<u8>,
    names: Vec<String>,
    /// The statement without a name that it tells of.
    unnamed: Option<Rc<Said>>,
    /// Whether anything is carried out.
    executes: bool,
}

/// What the node answered.
enum Answered {
    /// All of it, which was passed on.
    Whole,
    /// Nothing that was passed on.
    Not,
    /// A part, before it was lost.
    Part,
}

impl Client<'_> {
    /// Whether what comes now may be asked there, as far as that is seen from here.
    fn may_ask_aside(&self) -> bool {
        let aside = self.aside.as_ref().is_some_and(|aside| aside.node != self.primary);
        aside && !self.inside && self.near.status == b'I' && self.waits.is_empty()
    }

    /// A statement of the simple protocol; whether it was answered there.
    pub(super) fn simple_aside(&mut self, sql: &str) -> Go<bool> {
        if !is_read(sql) || !self.may_ask_aside() {
            return Ok(false);
        }
        let mut asked = Vec::new();
        query(&mut asked, sql);
        self.asked_aside(&asked, 0)
    }

    /// Whether a message of the extended protocol is the first of a batch, of which all is seen before anything of it is asked.
    pub(super) fn gathers(&self, tag: u8) -> bool {
        matches!(tag, b'P' | b'B') && !self.straight && !self.skips && self.may_ask_aside()
    }

    /// Gathers a batch up to its point of synchronisation, and asks for it there where all of it reads. Otherwise it is heard again, by whoever
    /// speaks to the primary.
    pub(super) fn gather(&mut self) -> Go<()> {
        let mut batch = Batch::default();
        let reads = loop {
            batch.heard.extend_from_slice(self.user.raw());
            if self.user.raw()[0] == b'S' {
                break batch.executes;
            }
            if !self.reads_on(&mut batch) || batch.heard.len() > BATCH {
                break false;
            }
            self.user.next().map_err(|_| End::Client)?;
        };
        if reads && self.asked_aside(&[&batch.told[..], &batch.heard].concat(), 2 * batch.names.len())? {
            self.aside.iter_mut().for_each(|aside| aside.known.extend(batch.names.drain(..)));
            if let Some(said) = batch.unnamed {
                self.prepared.insert(String::new(), said);
                self.unnamed_aside = true;
            }
            return self.ready();
        }
        self.user.back(&batch.heard);
        self.straight = true;
        Ok(())
    }

    /// Whether the message that was heard last leaves a batch one that only reads. Statements that the node does not know go before it.
    fn reads_on(&self, batch: &mut Batch) -> bool {
        let body = self.user.body();
        match self.user.raw()[0] {
            b'P' => {
                let said = batch.unnamed.insert(Rc::new(Said::of(&self.user)));
                text(body).0.is_empty() && is_read(&said.sql)
            }
            b'B' => {
                let name = text(text(body).1).0;
                let here = batch.unnamed.as_ref().filter(|_| name.is_empty());
                let Some(said) = here.or_else(|| self.prepared.get(name)).filter(|said| is_read(&said.sql)) else {
                    return false;
                };
                let known = !name.is_empty() && self.aside.as_ref().is_some_and(|aside| aside.known.contains(name));
                if here.is_none() && !known && !batch.names.iter().any(|told| told == name) {
                    // In place of another that it may have been told of.
                    message(&mut batch.told, b'C', |out| {
                        out.push(b'S');
                        put(out, name);
                    });
                    batch.told.extend_from_slice(&said.parse);
                    batch.names.push(name.to_owned());
                }
                true
            }
            b'D' => body.first() == Some(&b'P') || batch.unnamed.is_some() && body == [b'S', 0],
            b'E' => {
                batch.executes = true;
                true
            }
            _ => false,
        }
    }

    /// Asks the node, where it is in step and has what this client committed; whether it has answered. As many answers at the beginning are
    /// ours.
    fn asked_aside(&mut self, asked: &[u8], ours: usize) -> Go<bool> {
        let Some(mut aside) = self.aside.take() else { return Ok(false) };
        let answered = match self.in_step(&mut aside) {
            Ok(true) => self.answered(&mut aside, asked, ours),
            Ok(false) => Ok(Answered::Not),
            Err(end) => Err(end),
        };
        let node = aside.node;
        self.aside = Some(aside);
        match answered? {
            Answered::Whole => Ok(true),
            Answered::Not => Ok(false),
            Answered::Part => {
                error(
                    &mut self.user.out,
                    "ERROR",
                    "40001",
                    &format!("node {node} was lost while it was read"),
                    "try it again",
                );
                Ok(true)
            }
        }
    }

    /// Whether the node holds all that this client may have seen of its own, in a session that is set as the one on the primary.
    fn in_step(&mut self, aside: &mut Aside) -> Go<bool> {
        if !self.shared.is_in_step() {
            return Ok(false);
        }
        if self.far.settled().is_err() {
            aside.lacks = self.last_commit.clone();
            self.shared.trouble();
        }
        if aside.conn.is_none() && !self.opens(aside) {
            self.shared.trouble();
            return Ok(false);
        }
        if let Some(gid) = &aside.lacks {
            let sql = format!("SELECT count(*) FROM pg_catalog.pg_prepared_xacts WHERE gid = {}", quoted(gid));
            let gone = aside.conn.as_mut().and_then(|conn| conn.ask(&sql).ok());
            if gone.is_none_or(|rows| rows.first().and_then(|row| row.first()).is_none_or(|count| count != "0")) {
                return Ok(false);
            }
            aside.lacks = None;
        }
        if aside.stale {
            let Ok(set) = self.asks(&SET.replace("unnest(", "pg_catalog.unnest("))? else { return Ok(false) };
            if set != aside.set && !is_set(aside, &set) {
                return Ok(false);
            }
            (aside.set, aside.stale) = (set, false);
        }
        Ok(aside.set.iter().all(|row| row[0] != "temporary tables" || row[1] == "0"))
    }

    /// Opens the session there, as who the client is; whether it lets us in.
    fn opens(&mut self, aside: &mut Aside) -> bool {
        let given = aside.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let own = [("default_transaction_read_only", "on")];
        let opened = Conn::reach(&self.shared.socket(aside.node), self.shared.patience).and_then(|mut conn| {
            conn.start(given.chain(own))?;
            loop {
                match conn.next()? {
                    b'K' => self.shared.cancels(self.key, conn.body()),
                    b'E' => return Err(std::io::ErrorKind::ConnectionRefused.into()),
                    b'Z' => break,
                    _ => {}
                }
            }
            conn.patient(Some(self.shared.patience / 2))?;
            Ok(conn)
        });
        aside.conn = opened.ok();
        aside.conn.is_some()
    }

    /// Sends what is asked, and passes the answer on.
    fn answered(&mut self, aside: &mut Aside, asked: &[u8], mut ours: usize) -> Go<Answered> {
        let Some(conn) = aside.conn.as_mut() else { return Ok(Answered::Not) };
        let (mut held, mut passed, mut failed) = (Vec::new(), false, false);
        conn.out.extend_from_slice(asked);
        let mut heard = conn.flush().and_then(|()| conn.next());
        loop {
            match heard {
                Ok(b'Z') if failed => return Ok(Answered::Not),
                Ok(b'Z') => {
                    self.user.out.append(&mut held);
                    return Ok(Answered::Whole);
                }
                // What it cannot do, the primary may.
                Ok(b'E') if !passed => failed = true,
                Ok(b'S' | b'A') => {}
                Ok(b'1' | b'3') if ours > 0 => ours -= 1,
                Ok(_) => held.extend_from_slice(conn.raw()),
                Err(source) if is_slow(&source) && self.far.answers() => {}
                Err(_) => {
                    aside.close();
                    self.shared.trouble();
                    return Ok(if passed { Answered::Part } else { Answered::Not });
                }
            }
            if held.len() > KEPT && !failed {
                self.user.out.append(&mut held);
                self.user.flush().map_err(|_| End::Client)?;
                passed = true;
            }
            heard = conn.next();
        }
    }

    /// The primary is told of the statement without a name that only the other node was told of.
    pub(super) fn tells_unnamed(&mut self) {
        if std::mem::take(&mut self.unnamed_aside)
            && let Some(said) = self.prepared.get("")
        {
            self.near.out.extend_from_slice(&said.parse);
            self.near.stepped = true;
            self.waits.push_back(true);
        }
    }

    /// Something is said to the primary, which may set its session otherwise.
    pub(super) fn leaves_aside(&mut self) {
        self.aside.iter_mut().for_each(|aside| aside.stale = true);
    }

    /// A statement of that name is another one from now on.
    pub(super) fn forgets_aside(&mut self, name: &str) {
        self.aside.iter_mut().for_each(|aside| aside.known.retain(|known| known != name));
    }
}

/// Sets a session as another one is; whether it is.
fn is_set(aside: &mut Aside, set: &[Vec<String>]) -> bool {
    let each = set.iter().filter(|row| row[0] != "temporary tables");
    let each: Vec<String> =
        each.map(|row| format!("pg_catalog.set_config({}, {}, false)", quoted(&row[0]), quoted(&row[1]))).collect();
    let sql = format!("RESET ALL; SELECT {}; SET default_transaction_read_only = on", each.join(", "));
    let done = aside.conn.as_mut().is_some_and(|conn| conn.ask(&sql).is_ok());
    if !done {
        aside.close();
    }
    done
}

impl Said {
    /// That of a message.
    pub(super) fn of(user: &Conn) -> Said {
        let sql = text(text(user.body()).1).0;
        Said { class: super::words::class(sql), sql: sql.to_owned(), parse: user.raw().to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_do_nothing_but_read_is_asked_aside() {
        for sql in ["select 1", "(SELECT a FROM t)", "TABLE t", "with x as (select 1) select * from x", "values (1)"] {
            assert!(is_read(sql) && super::super::words::class(sql) == super::super::words::Class::Work, "{sql}");
        }
        for sql in [
            "insert into t values (1)",
            "show all",
            "select pg_advisory_lock(1)",
            "select set_config('a.b', 'c', false)",
            "fetch c",
        ] {
            assert!(!is_read(sql), "{sql}");
        }
    }
}
