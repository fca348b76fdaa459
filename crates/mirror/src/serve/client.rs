//! One client of a pair: its session on the primary, and what of its transactions goes to the other node.
//!
//! The one idea: a client speaks to the primary, and we listen: the primary itself tells which rows changed, in notices that are taken out
//! of the stream. A transaction of which something was told is committed in two phases, any other as it is. What a client sends outside of
//! a transaction gets one around it.

use super::Shared;
use super::aside::Aside;
use super::conn::{Conn, error, lost, message, put, query, said, text};
use super::far::Far;
use super::words::{Class, class, statements};
use crate::rows::{self, quoted};
use database::{Failure, FailureKind};
use pair::Node;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// The code of notices that are meant for us.
const MARK: &str = "PR0NY";

/// What is gathered for one end before it is sent.
pub(super) const GATHERED: usize = 32 << 10;

/// Why nobody is served whose strings have escapes everywhere.
const ESCAPES: &str = "standard_conforming_strings = off: a pair ends a string at its quote, as the standard does; leave it on, and write \
                       E'..' where a backslash is to escape";

/// Why a client is served no more.
pub(super) enum End {
    /// It is gone, or said good-bye.
    Client,
    /// The primary is gone.
    Primary(Failure),
    /// It is told so, with this code.
    Told(&'static str, String),
}

pub(super) type Go<T> = Result<T, End>;

/// A statement that a client prepared.
pub(super) struct Said {
    pub(super) class: Class,
    pub(super) sql: String,
    /// The message that told of it.
    pub(super) parse: Vec<u8>,
}

pub(super) struct Client<'a> {
    pub(super) shared: &'a Shared,
    pub(super) primary: Node,
    pub(super) user: Conn,
    pub(super) near: Conn,
    pub(super) far: Far,
    /// Where it reads, when that is not the primary; and its last commit on both.
    pub(super) aside: Option<Aside>,
    pub(super) last_commit: Option<String>,
    /// Whether only the other node was told of the statement without a name, and whether what comes goes to the primary up to the next point of
    /// synchronisation.
    pub(super) unnamed_aside: bool,
    pub(super) straight: bool,
    /// By which others cancel what it does.
    pub(super) key: [u8; 8],
    /// The number of our session on the primary, and of its commits in two phases.
    pub(super) process: u32,
    pub(super) commits: u64,
    /// Whether a transaction is open, and whether it is one that we put around a statement.
    pub(super) inside: bool,
    pub(super) wrapped: bool,
    /// What the primary told of the statements since: something is noted in its list; something was defined.
    pub(super) noted: bool,
    pub(super) defined: bool,
    /// Sequences that it used and the other node does not know yet to come so far: what it is to hear, and by what that is known again.
    pub(super) telling: Vec<[String; 2]>,
    /// Whether texts mean the same to both nodes.
    pub(super) readable: bool,
    /// That a statement was carried out, as long as it may still fail.
    pub(super) held: Vec<u8>,
    pub(super) prepared: HashMap<String, Rc<Said>>,
    pub(super) portals: HashMap<String, Rc<Said>>,
    /// Answers that wait, of the extended protocol: whether they are ours.
    pub(super) waits: VecDeque<bool>,
    /// Whether all is skipped up to the next point of synchronisation.
    pub(super) skips: bool,
    pub(super) after: Vec<Rc<Said>>,
}

pub(super) fn primary(source: &std::io::Error) -> End {
    End::Primary(lost(source))
}

/// Tells a client why it is served no more.
fn tell(end: &End, node: Node, user: &mut Conn) {
    let (code, says) = match end {
        End::Client => return,
        End::Told(code, says) => (*code, says.clone()),
        End::Primary(failure) => {
            ("57P01", format!("node {node}, the primary of the pair, ended the session: {failure}"))
        }
    };
    error(&mut user.out, "FATAL", code, &says, "connect again");
    // Who is gone hears nothing.
    let _ = user.flush();
}

/// Opens the session of a client on the primary, and passes on what that says: with the number of the session, and whether its texts can be
/// read.
fn opened(shared: &Shared, node: Node, user: &mut Conn, parameters: &[(String, String)]) -> Go<(Conn, [u8; 8], bool)> {
    let has = |name: &str| parameters.iter().any(|(key, _)| key == name);
    if !has("user") {
        return Err(End::Told("28000", "no user is named".to_owned()));
    }
    if has("replication") {
        return Err(End::Told("0A000", "replication: a pair is followed by nobody else".to_owned()));
    }
    let away = |source| End::Told("57P03", format!("node {node}, the primary of the pair, does not answer: {source}"));
    let mut near = Conn::reach(&shared.socket(node), super::ENTRY).map_err(away)?;
    let given = parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    near.start(given.chain([("prony.served", "on")])).map_err(away)?;
    let (mut key, mut readable) = ([0; 8], true);
    loop {
        let tag = near.next().map_err(away)?;
        match tag {
            b'K' => key = near.body().first_chunk().copied().unwrap_or_default(),
            b'S' if escapes(near.body()) => return Err(End::Told("0A000", ESCAPES.to_owned())),
            b'S' => readable &= is_readable(near.body()).unwrap_or(true),
            _ => {}
        }
        user.out.extend_from_slice(near.raw());
        if tag == b'Z' || tag == b'E' {
            user.flush().map_err(|_| End::Client)?;
            near.patient(None).map_err(|source| primary(&source))?;
            return if tag == b'Z' { Ok((near, key, readable)) } else { Err(End::Client) };
        }
    }
}

impl<'a> Client<'a> {
    /// Lets a client in that sent these parameters; none, once that is told, when it cannot be.
    pub(super) fn enter(shared: &'a Shared, mut user: Conn, parameters: &[(String, String)]) -> Option<Client<'a>> {
        let node = shared.primary_now();
        let find = |name: &str| parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let (near, key, readable) = match opened(shared, node, &mut user, parameters) {
            Ok(opened) => opened,
            Err(end) => {
                tell(&end, node, &mut user);
                return None;
            }
        };
        let process = key.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let name = format!("{}{process}", rows::SERVES);
        let database = find("database").or(find("user")).unwrap_or_default();
        let far = Far::new(shared.socket(node.other()), database, name, shared.patience);
        Some(Client {
            shared,
            primary: node,
            user,
            near,
            far,
            aside: shared.reads_on.map(|node| Aside::new(node, parameters)),
            last_commit: None,
            unnamed_aside: false,
            straight: false,
            key,
            process,
            commits: 0,
            inside: false,
            wrapped: false,
            noted: false,
            defined: false,
            telling: Vec::new(),
            readable,
            held: Vec::new(),
            prepared: HashMap::new(),
            portals: HashMap::new(),
            waits: VecDeque::new(),
            skips: false,
            after: Vec::new(),
        })
    }

    /// Serves it to its end.
    pub(super) fn serve(mut self) {
        let end = loop {
            if let Err(end) = self.message() {
                break end;
            }
        };
        if matches!(end, End::Primary(_)) {
            self.shared.trouble();
        }
        self.shared.cancels_nothing(self.key);
        tell(&end, self.primary, &mut self.user);
    }

    pub(super) fn message(&mut self) -> Go<()> {
        let tag = self.user.next().map_err(|source| match source.kind() {
            std::io::ErrorKind::InvalidData => End::Told("08P01", source.to_string()),
            _ => End::Client,
        })?;
        if self.shared.primary() != self.primary {
            return Err(End::Told("57P01", format!("node {} is the primary of the pair now", self.primary.other())));
        }
        match tag {
            b'Q' => self.simple(),
            tag if self.gathers(tag) => self.gather(),
            b'S' => self.synchronise(),
            b'H' => self.listen().and_then(|()| self.flush()),
            b'P' | b'B' | b'D' | b'E' | b'C' => self.extended(tag),
            b'F' => {
                self.refuse("function calls of the protocol, as of large objects")?;
                self.ready()
            }
            // What is left of rows that the primary did not want.
            b'd' | b'c' | b'f' => Ok(()),
            b'X' => Err(End::Client),
            _ => Err(End::Told("08P01", format!("a message of the unknown kind {tag}"))),
        }
    }

    pub(super) fn flush(&mut self) -> Go<()> {
        self.user.flush().map_err(|_| End::Client)
    }

    pub(super) fn release(&mut self) {
        self.user.out.append(&mut self.held);
    }

    /// The client may send more.
    pub(super) fn ready(&mut self) -> Go<()> {
        self.release();
        let status = self.near.status;
        self.inside = status != b'I';
        if !self.inside {
            self.ended();
        }
        message(&mut self.user.out, b'Z', |out| out.push(status));
        self.flush()
    }

    /// No transaction is open any more, and nothing of it is under way.
    pub(super) fn ended(&mut self) {
        self.far.undo();
        self.telling.clear();
        (self.inside, self.wrapped, self.noted, self.defined) = (false, false, false, false);
    }

    pub(super) fn fails(&mut self, code: &str, says: &str, hint: &str) {
        self.held.clear();
        error(&mut self.user.out, "ERROR", code, says, hint);
    }

    /// Says that something cannot be, which ends the transaction.
    pub(super) fn refuse(&mut self, why: &str) -> Go<()> {
        if self.inside {
            self.asks(&format!("SELECT prony_pair.refuse({})", quoted(why)))?.err();
        }
        self.fails("0A000", &format!("a pair cannot keep this in lock step: {why}"), "");
        Ok(())
    }

    /// Asks the primary something of ours.
    pub(super) fn asks(&mut self, sql: &str) -> Go<Result<Vec<Vec<String>>, Failure>> {
        match self.near.ask(sql) {
            Err(failure) if failure.kind == FailureKind::Lost => Err(End::Primary(failure)),
            answer => Ok(answer),
        }
    }

    pub(super) fn simple(&mut self) -> Go<()> {
        let body = self.user.body();
        let Ok(sql) = std::str::from_utf8(body.strip_suffix(&[0]).unwrap_or(body)).map(str::to_owned) else {
            self.fails("22021", "a statement is no text in UTF-8", "");
            return self.ready();
        };
        let texts = statements(&sql);
        if texts.is_empty() {
            query(&mut self.near.out, &sql);
            self.pump(0)?;
            return self.ready();
        }
        if let [one] = texts[..]
            && self.simple_aside(one)?
        {
            return self.ready();
        }
        self.leaves_aside();
        let mut fine = true;
        for text in texts {
            fine = self.one(text)?;
            if !fine {
                break;
            }
        }
        self.finish(fine)
    }

    /// One statement of a text; whether it was carried out.
    pub(super) fn one(&mut self, sql: &str) -> Go<bool> {
        let class = class(sql);
        let open = self.inside && self.near.status != b'E';
        match class {
            Class::Refused(why) => return self.refuse(why).map(|()| false),
            Class::Commit if open => return self.commits(),
            Class::Begin if self.wrapped => {
                self.wrapped = false;
                self.says("BEGIN");
                return Ok(true);
            }
            Class::Work | Class::Define | Class::Global if !self.inside => {
                query(&mut self.near.out, "BEGIN");
                (self.inside, self.wrapped) = (true, true);
                query(&mut self.near.out, sql);
                return if self.pump(1)? { self.follows(class, sql) } else { Ok(false) };
            }
            _ => {}
        }
        query(&mut self.near.out, sql);
        let fine = self.pump(0)?;
        self.inside = self.near.status != b'I';
        if fine { self.follows(class, sql) } else { Ok(false) }
    }

    pub(super) fn says(&mut self, tag: &str) {
        self.release();
        message(&mut self.user.out, b'C', |out| put(out, tag));
    }

    /// A commit that the client asked for.
    pub(super) fn commits(&mut self) -> Go<bool> {
        let done = self.commit()?;
        self.ended();
        if done {
            self.says("COMMIT");
        }
        Ok(done)
    }

    /// What follows from a statement that was carried out.
    pub(super) fn follows(&mut self, class: Class, sql: &str) -> Go<bool> {
        match class {
            Class::Rollback => self.ended(),
            Class::Savepoint => self.far.text(sql),
            Class::Define if self.defined => return self.defines(sql),
            Class::Global => return self.defines(sql),
            Class::Outside | Class::Upkeep if !self.inside => self.outside(class, sql)?,
            _ if self.defined => {
                self.refuse(
                    "definitions inside of a function, DO or SELECT INTO; say them as statements of their own",
                )?;
                return Ok(false);
            }
            _ => {}
        }
        self.defined = false;
        Ok(true)
    }

    /// The end of what a client sent at once.
    pub(super) fn finish(&mut self, fine: bool) -> Go<()> {
        if self.wrapped {
            self.wrapped = false;
            if !fine || !self.commit()? {
                self.held.clear();
            }
            if self.near.status != b'I' {
                self.asks("ROLLBACK")?.err();
            }
        }
        self.ready()
    }

    /// Passes on what the primary says until it is ready; as many points of readiness before that are ours.
    pub(super) fn pump(&mut self, ours: usize) -> Go<bool> {
        self.near.flush().map_err(|source| primary(&source))?;
        let (mut ours, mut fine) = (ours, true);
        loop {
            let tag = self.near.next().map_err(|source| primary(&source))?;
            match tag {
                b'Z' if ours == 0 => return Ok(fine),
                b'Z' => ours -= 1,
                b'E' => {
                    fine = false;
                    self.pass(tag)?;
                }
                _ if ours > 0 => {}
                _ => self.pass(tag)?,
            }
        }
    }

    /// Passes on what the primary said last.
    pub(super) fn pass(&mut self, tag: u8) -> Go<()> {
        match tag {
            b'N' if said(self.near.body(), b'C') == MARK => {
                match said(self.near.body(), b'M') {
                    "noted" => self.noted = true,
                    "defined" => self.defined = true,
                    "sequence" => self.used([b'D', b'H'].map(|field| said(self.near.body(), field).to_owned())),
                    sql => self.far.put(sql, said(self.near.body(), b'D')),
                }
                return Ok(());
            }
            b'E' if said(self.near.body(), b'C') == "25006" && self.shared.changes_roles(self.primary) => {
                self.release();
                let says = "the nodes of the pair change their roles";
                error(&mut self.user.out, "ERROR", "40001", says, "try the transaction again");
                return Ok(());
            }
            b'E' if said(self.near.body(), b'C') == "2D000" && self.wrapped => {
                self.fails(
                    "0A000",
                    "a pair cannot keep this in lock step: COMMIT or ROLLBACK inside of a procedure or DO",
                    "have it change without them, and say BEGIN and COMMIT as statements of their own",
                );
                return Ok(());
            }
            b'S' if escapes(self.near.body()) => return Err(End::Told("0A000", ESCAPES.to_owned())),
            b'S' => self.readable = is_readable(self.near.body()).unwrap_or(self.readable),
            _ => {}
        }
        self.release();
        match tag {
            b'C' => self.held.extend_from_slice(self.near.raw()),
            _ => self.user.out.extend_from_slice(self.near.raw()),
        }
        match tag {
            b'G' => self.copied_in(),
            _ if self.user.out.len() > GATHERED => self.flush(),
            _ => Ok(()),
        }
    }

    /// Rows go from the client to the primary.
    pub(super) fn copied_in(&mut self) -> Go<()> {
        self.flush()?;
        loop {
            let tag = self.user.next().map_err(|_| End::Client)?;
            // Points of synchronisation mean nothing meanwhile.
            if matches!(tag, b'H' | b'S') {
                continue;
            }
            self.near.out.extend_from_slice(self.user.raw());
            if tag != b'd' || self.near.out.len() > GATHERED {
                self.near.flush().map_err(|source| primary(&source))?;
            }
            if tag != b'd' {
                return Ok(());
            }
        }
    }
}

/// Whether a backslash escapes in every string from now on, as the server says.
fn escapes(body: &[u8]) -> bool {
    let (name, rest) = text(body);
    name == "standard_conforming_strings" && text(rest).0 == "off"
}

/// Whether texts in an encoding that the server names are the same bytes on both nodes; none for other settings.
fn is_readable(body: &[u8]) -> Option<bool> {
    let (name, rest) = text(body);
    match name {
        "client_encoding" => Some(matches!(text(rest).0, "UTF8" | "SQL_ASCII")),
        "server_encoding" => Some(text(rest).0 == "UTF8"),
        _ => None,
    }
}
