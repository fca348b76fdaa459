//! Serves a two-phase pair to clients of PostgreSQL: one address, behind which is whoever is the primary.
//!
//! The one idea: this process coordinates, and keeps nothing: what a transaction changed is told by the primary, what is in doubt is
//! prepared on the nodes, and what the pair does is its record. So it may be killed at any moment, and there may be several.
//!
//! What it does not do: it makes no snapshot across both nodes, and is no cluster for production.

mod aside;
mod client;
mod commit;
mod conn;
mod extended;
mod far;
mod told;
mod words;

pub use told::Server;

use crate::rows;
use crate::{Home, MirrorError};
use client::Client;
use conn::{Conn, error};
use pair::{Node, State};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;
use store::PairRecord;

/// How long a client may take to say who it is, and a node to let it in.
const ENTRY: Duration = Duration::from_secs(10);

/// Between two looks for clients, and for what changed.
const LOOK: Duration = Duration::from_millis(20);

/// Between two looks at the record of the pair, in looks for clients.
const RECORD_LOOKS: u32 = 10;

/// Between two looks at the nodes while one is away, in looks at the record.
const AWAY_LOOKS: u32 = 150;

/// Between two looks at the nodes while both do their part, in looks at the record: what another one who served and was killed left in
/// doubt locks rows until it is ended.
const DOUBT_LOOKS: u32 = 5;

/// Between two looks of a client whether the pair has taken in that a node is away, and how many there are.
const TAKEN_IN_LOOK: Duration = Duration::from_millis(50);
const TAKEN_IN_LOOKS: u32 = 300;

const SSL: i32 = 80_877_103;
const GSS: i32 = 80_877_104;
const CANCEL: i32 = 80_877_102;
const VERSION: i32 = 196_608;

/// What all clients know.
struct Shared {
    home: Home,
    patience: Duration,
    /// Where clients read, while that node is in step.
    reads_on: Option<Node>,
    /// Of sessions that read there: by which key they are cancelled there.
    keys: Mutex<HashMap<[u8; 8], [u8; 8]>>,
    /// From which to which number the other node has heard that a sequence comes, by what that is known.
    told: Mutex<HashMap<String, [i64; 2]>>,
    now: Mutex<Now>,
    changed: Condvar,
}

/// What the pair is at this moment.
struct Now {
    primary: Node,
    /// How often somebody was told of trouble, and up to which the pair has looked.
    troubles: u64,
    looked: u64,
    /// The node that was asked in vain.
    silent: Option<Node>,
}

impl Now {
    fn troubles(&self) -> (u64, u64) {
        (self.troubles, self.looked)
    }
}

impl Shared {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn primary(&self) -> Node {
        self.now().primary
    }

    /// The same as it is written down at this moment.
    fn primary_now(&self) -> Node {
        if let Ok(Some(record)) = self.home.record() {
            self.now().primary = record.life.primary();
        }
        self.primary()
    }

    /// Whether both nodes hold what is acknowledged. A pair writes down that it goes on with one before that one takes anything alone.
    fn is_in_step(&self) -> bool {
        self.home.record().ok().flatten().is_some_and(|record| is_in_step(&record))
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<[u8; 8], [u8; 8]>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who cancels a session cancels what it reads there, too.
    fn cancels(&self, key: [u8; 8], there: &[u8]) {
        self.keys().extend(there.first_chunk().map(|there| (key, *there)));
    }

    fn cancels_nothing(&self, key: [u8; 8]) {
        self.keys().remove(&key);
    }

    fn told(&self) -> MutexGuard<'_, HashMap<String, [i64; 2]>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the other node has heard of a sequence as far as it has come: `NAME NUMBER FURTHEST`.
    fn has_told(&self, known: &str) -> bool {
        let Some((name, [number, _])) = sequence(known) else { return false };
        self.told().get(name).is_some_and(|[from, to]| (*from.min(to)..=*from.max(to)).contains(&number))
    }

    /// The other node keeps what it was told of sequences, whatever becomes of it.
    fn remember(&self, telling: &mut Vec<[String; 2]>) {
        let told = telling.drain(..);
        self.told().extend(told.filter_map(|[_, known]| sequence(&known).map(|(name, span)| (name.to_owned(), span))));
    }

    fn socket(&self, node: Node) -> PathBuf {
        self.home.folder().join(node.to_string()).join("run/.s.PGSQL.5432")
    }

    /// Whether nobody may write on a node that a client holds for the primary: then it is read-only by our order, not by the client's.
    fn changes_roles(&self, node: Node) -> bool {
        self.home.record().ok().flatten().is_some_and(|record| {
            let stands = record.life.primary() == node && record.life.state() != State::Swapping;
            !stands || !record.writes[node as usize]
        })
    }

    /// A node did not do its part.
    fn trouble(&self) {
        self.now().troubles += 1;
    }

    /// The same, of a node that was asked in vain or not, and waits until the pair has looked, or is written down to go on alone, which
    /// comes first when a node is silent.
    fn looked(&self, silent: Option<Node>) {
        let mut now = self.now();
        now.troubles += 1;
        now.silent = silent.or(now.silent);
        let mine = now.troubles;
        for _ in 0..TAKEN_IN_LOOKS {
            if self.home.record().ok().flatten().is_some_and(|record| is_alone(&record)) || now.looked >= mine {
                break;
            }
            now = self.changed.wait_timeout(now, TAKEN_IN_LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A pair that is served.
pub struct Serving {
    listener: TcpListener,
    shared: Shared,
}

impl Serving {
    /// Listens for clients of a pair. A node that is silent for longer than `patience` and lets nobody in counts as lost.
    ///
    /// # Errors
    /// When the pair is of another kind or down, or the address is taken.
    pub fn begin(
        home: Home,
        listen: SocketAddr,
        patience: Duration,
        reads_on: Option<Node>,
    ) -> Result<Serving, MirrorError> {
        let Some(record) = home.record()? else { return Err(MirrorError::NoPair(home.folder().to_owned())) };
        if record.kind != rows::KIND {
            return Err(MirrorError::NotServed(record.kind));
        }
        if record.down {
            return Err(MirrorError::Down(home.folder().to_owned(), record.kind));
        }
        let failed = |source| MirrorError::Listen(listen, source);
        let listener = TcpListener::bind(listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let now = Mutex::new(Now { primary: record.life.primary(), troubles: 0, looked: 0, silent: None });
        let shared = Shared {
            home,
            patience,
            reads_on,
            keys: Mutex::default(),
            told: Mutex::default(),
            now,
            changed: Condvar::new(),
        };
        Ok(Serving { listener, shared })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is told to stop, or the pair goes down. `look` is what a command does that looks at the pair, past a node that was
    /// asked in vain; it answers with an error when it could not.
    ///
    /// # Errors
    /// When the record of the pair cannot be read.
    pub fn serve(
        self,
        stop: &AtomicBool,
        mut look: impl FnMut(&Home, Option<Node>) -> Result<(), MirrorError>,
    ) -> Result<(), MirrorError> {
        let (shared, ended) = (Arc::new(self.shared), AtomicBool::new(false));
        // What was left in doubt by one who was killed is settled before anybody writes.
        let _ = look(&shared.home, None);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                accept(&self.listener, &shared, || stop.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed))
            });
            let _told = told::Told::of(&shared, self.listener.local_addr());
            let watched = watch(&shared, stop, &mut look);
            ended.store(true, Ordering::Relaxed);
            watched
        })
    }
}

/// Lets clients in until it is over.
fn accept(listener: &TcpListener, shared: &Arc<Shared>, over: impl Fn() -> bool) {
    while !over() {
        let Ok((stream, _)) = listener.accept() else {
            sleep(LOOK);
            continue;
        };
        let shared = shared.clone();
        // One that finds no thread is closed.
        let _ = std::thread::Builder::new().name("client".to_owned()).spawn(move || welcome(&shared, stream));
    }
}

/// Follows the record of the pair, and has it looked at when there is trouble.
fn watch(
    shared: &Shared,
    stop: &AtomicBool,
    look: &mut impl FnMut(&Home, Option<Node>) -> Result<(), MirrorError>,
) -> Result<(), MirrorError> {
    let (home, mut looks) = (&shared.home, 0_u32);
    while !stop.load(Ordering::Relaxed) {
        looks = looks.wrapping_add(1);
        let (troubles, looked) = shared.now().troubles();
        if troubles > looked || looks.is_multiple_of(RECORD_LOOKS) {
            let silent = shared.now().silent.take();
            let Some(record) = home.record()?.filter(|record| !record.down) else { return Ok(()) };
            let away = record.life.up.contains(&false) && looks.is_multiple_of(RECORD_LOOKS * AWAY_LOOKS);
            let whole = record.waits && !record.life.up.contains(&false);
            let doubtful = whole && looks.is_multiple_of(RECORD_LOOKS * DOUBT_LOOKS);
            if troubles > looked && !is_alone(&record) || away || doubtful {
                // Whoever else works on the pair looks himself.
                let _ = look(home, silent);
            }
            let primary = home.record()?.map_or(record.life.primary(), |record| record.life.primary());
            let mut now = shared.now();
            (now.primary, now.looked) = (primary, now.looked.max(troubles));
            drop(now);
            shared.changed.notify_all();
        }
        sleep(LOOK);
    }
    Ok(())
}

/// What a sequence is known by, the number that it gave last, and the one up to which it was told.
fn sequence(known: &str) -> Option<(&str, [i64; 2])> {
    let (rest, to) = known.rsplit_once(' ')?;
    let (name, from) = rest.rsplit_once(' ')?;
    Some((name, [from.parse().ok()?, to.parse().ok()?]))
}

/// Whether both nodes have what is acknowledged, so that either may be read.
pub fn is_in_step(record: &PairRecord) -> bool {
    record.life.state() == State::Replicating && record.waits && !record.down && record.life.up == [true; 2]
}

/// Whether the primary goes on without a node that is away.
fn is_alone(record: &PairRecord) -> bool {
    !record.waits && record.life.up.contains(&false)
}

/// Hears who comes, and serves him.
fn welcome(shared: &Shared, stream: TcpStream) {
    let Ok(mut user) = Conn::client(stream) else { return };
    let Ok(Some(parameters)) = hello(shared, &mut user) else { return };
    if let Some(client) = Client::enter(shared, user, &parameters) {
        client.serve();
    }
}

/// What a client says first; none when it wants no session.
fn hello(shared: &Shared, user: &mut Conn) -> io::Result<Option<Vec<(String, String)>>> {
    user.patient(Some(ENTRY))?;
    loop {
        match user.first() {
            Ok(SSL | GSS) => {
                user.out.push(b'N');
                user.flush()?;
            }
            Ok(CANCEL) => {
                let there = user.first_body().first_chunk().and_then(|key| shared.keys().get(key).copied());
                if let (Some(node), Some(there)) = (shared.reads_on, there)
                    && let Ok(mut aside) = Conn::reach(&shared.socket(node), ENTRY)
                {
                    aside.out.extend_from_slice(&user.raw()[..8]);
                    aside.out.extend(there);
                    let _ = aside.flush().and_then(|()| aside.next().map(drop));
                }
                let mut near = Conn::reach(&shared.socket(shared.primary()), ENTRY)?;
                near.out.extend_from_slice(user.raw());
                near.flush()?;
                // It closes when it has done so.
                let _ = near.next();
                return Ok(None);
            }
            Ok(VERSION) => break,
            Ok(_) => {
                error(&mut user.out, "FATAL", "0A000", "the protocol's version is not 3.0", "");
                return user.flush().map(|()| None);
            }
            Err(source) => {
                error(&mut user.out, "FATAL", "08P01", &source.to_string(), "");
                let _ = user.flush();
                return Err(source);
            }
        }
    }
    let (mut parameters, mut rest) = (Vec::new(), user.first_body());
    while let (name, more) = conn::text(rest)
        && !name.is_empty()
    {
        let (value, more) = conn::text(more);
        parameters.push((name.to_owned(), value.to_owned()));
        rest = more;
    }
    user.patient(None)?;
    Ok(Some(parameters))
}
