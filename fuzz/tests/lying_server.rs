//! Whatever a server says to whoever opens a session and asks it something, there is an answer or an error with words.
//!
//! The server is a thread behind a Unix socket. It says all that it has to say at once and closes its end, so that nobody waits for
//! more. The first byte of an input chooses how much of a good beginning comes before what the fuzzer thinks of, and what is asked.

use database::{OpenOptions, Profiling, Rows, Session, Texts, postgres};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Statement, Value};

/// Opens a session on a server that says these messages of PostgreSQL, and asks it something.
pub fn postgres_server(bytes: &[u8]) {
    let [how, rest @ ..] = bytes else { return };
    let messages = super::postgres_wire::said(rest);
    let good = good_postgres();
    // What was looked up when the database was opened, and a second conversation that was let in.
    let looked = [&good[..], b"C\0\0\0\x0dSELECT 0\0Z\0\0\0\x05I"].concat();
    LIAR.with(|liar| {
        let says = match how & 1 {
            0 => vec![messages],
            _ => vec![looked, [&good[..], &messages].concat()],
        };
        liar.will_say(says);
        let url = format!("postgres://me:secret@/db?host={}", liar.folder.path().display());
        let spec = DatabaseSpec::new(Engine::Postgres, At::Url(url));
        let opened = postgres::open(&spec, &options());
        let session = opened.and_then(|database| database.session(&texts(), &sessions(*how)));
        match session {
            Ok(mut session) => ask(&mut *session, *how),
            Err(error) => assert!(!error.to_string().is_empty() && !error.to_string().contains("secret")),
        }
    });
}

fn options() -> OpenOptions {
    let (cache_dir, settings) = (PathBuf::new(), Vec::new());
    OpenOptions { cache_dir, dataset: None, settings, profiling: Profiling::default(), stop: Arc::default() }
}

fn texts() -> Texts {
    let statement = |sql: &str| Statement { name: sql.to_owned(), sql: sql.to_owned(), rows: true };
    Texts::of(Engine::Postgres, &[statement("SELECT a FROM t WHERE b = $1"), statement("UPDATE t SET a = $1")])
}

fn sessions(how: u8) -> Sessions {
    let protocol = [Protocol::Prepared, Protocol::Simple, Protocol::Extended][usize::from(how >> 4) % 3];
    Sessions { protocol, ..Sessions::default() }
}

/// Asks in one of the ways that there are.
fn ask(session: &mut dyn Session, how: u8) {
    let answered = match how >> 3 & 1 {
        0 => run(session),
        _ => session.load("t", &["a"], &mut Few(3)).map(drop).and_then(|()| session.query("SELECT 1").map(drop)),
    };
    if let Err(failure) = answered {
        assert!(!failure.text.is_empty() && !failure.text.contains("secret"), "a failure without a word");
    }
}

fn run(session: &mut dyn Session) -> Result<(), database::Failure> {
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.call(0, [Value::Int(7)]);
    batch.call(1, [Value::Text("x".to_owned())]);
    session.run(&batch, &mut answers)
}

/// So many rows.
struct Few(i64);

impl Rows for Few {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        row.clear();
        row.push(Value::Int(self.0));
        self.0 -= 1;
        self.0 >= 0
    }
}

/// A server that says what it was told to.
struct Liar {
    folder: tempfile::TempDir,
    says: Arc<Mutex<VecDeque<Vec<u8>>>>,
}

thread_local! {
    static LIAR: Liar = Liar::new();
}

impl Liar {
    fn new() -> Liar {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        let says = Arc::new(Mutex::new(VecDeque::new()));
        let heard = says.clone();
        std::thread::spawn(move || serve(&listener, &heard));
        Liar { folder, says }
    }

    /// To each who comes one of these; to the next nothing.
    fn will_say(&self, says: Vec<Vec<u8>>) {
        *self.says.lock().expect("nobody panics with it") = says.into();
    }
}

fn serve(listener: &UnixListener, says: &Mutex<VecDeque<Vec<u8>>>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { return };
        let bytes = says.lock().expect("nobody panics with it").pop_front().unwrap_or_default();
        let _ = stream.write_all(&bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        // Closing it while something is unread would take back what was said.
        let _ = io::copy(&mut stream, &mut io::sink());
    }
}

/// A server that lets us in.
fn good_postgres() -> Vec<u8> {
    let mut said = b"R\0\0\0\x08\0\0\0\0".to_vec();
    said.extend(b"S\0\0\0\x18server_version\x0016.1\0");
    said.extend(b"K\0\0\0\x0c\0\0\0\x07\0\0\0\x07Z\0\0\0\x05I");
    said
}
