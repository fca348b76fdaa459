//! Two real servers in lock step: whatever ends between two steps of a commit, nothing stays in doubt and both hold the same.

use super::skip::skipped;
use crate::server::Mirror;
use crate::server::postgres::Server;
use crate::{Database, OpenOptions, Profiling, Texts, open, server};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use study::{At, DatabaseSpec, Engine, Pairing, Sessions, Waits};
use tempfile::TempDir;
use workload::transaction::{Answers, Batch, Statement, Value};

const SETTINGS: [(&str, &str); 1] = [("max_prepared_transactions", "10")];

const NONE_LEFT: &str = "0 transactions were left prepared and ended";

/// Both servers, of which the second stands beside the first.
struct Both {
    folder: TempDir,
    database: Box<dyn Database>,
}

impl Drop for Both {
    fn drop(&mut self) {
        let _ = server::down(Engine::Postgres, self.folder.path(), &Arc::default(), true);
    }
}

fn settings() -> Vec<(String, String)> {
    SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

impl Both {
    fn start() -> Option<Both> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        if Server::find(folder.path(), "server", Arc::default()).is_err() {
            skipped("PostgreSQL is not installed");
            return None;
        }
        let options = OpenOptions {
            cache_dir: folder.path().to_owned(),
            dataset: None,
            settings: settings(),
            profiling: Profiling::default(),
            stop: Arc::default(),
        };
        let database = open(&DatabaseSpec::new(Engine::Postgres, At::Local), &options).unwrap();
        let mut session = database.outside().unwrap();
        session.script("CREATE TABLE t (id int PRIMARY KEY, n int)").unwrap();
        session.script("INSERT INTO t SELECT g, 0 FROM generate_series(1, 10) g").unwrap();
        let both = Both { folder, database };
        let mirror = both.mirror();
        let wires = mirror.wires().unwrap();
        wires.iter().for_each(|[near, far]| std::os::unix::fs::symlink(far, near).unwrap());
        mirror.begin(Waits::Flushed, &settings(), None).unwrap();
        both.database.on_both(Some(&DatabaseSpec::new(Engine::Postgres, At::Local)));
        Some(both)
    }

    fn mirror(&self) -> Arc<dyn Mirror> {
        let spec = DatabaseSpec::new(Engine::Postgres, At::Local);
        self.database.mirror(&DatabaseSpec { pairing: Pairing::TwoPhase, ..spec }).unwrap()
    }

    /// How many transactions were left prepared, ended now.
    fn left(&self) -> String {
        self.mirror().level().unwrap()
    }

    fn far(&self) -> Box<dyn crate::Session> {
        self.mirror().reader().unwrap()
    }

    /// The rows of each.
    fn rows(&self) -> [Vec<Vec<Value>>; 2] {
        let sql = "SELECT id, n FROM public.t ORDER BY id";
        let mut far = self.far();
        [self.database.outside().unwrap().query(sql).unwrap(), far.query(sql).unwrap()]
    }

    /// Statements of one server, as somebody in the middle of a commit has sent them.
    fn at(&self, far: bool, texts: &[&str]) {
        let mut session: Box<dyn crate::Session> = match far {
            true => self.far(),
            false => self.database.outside().unwrap(),
        };
        texts.iter().for_each(|text| session.script(text).unwrap());
    }
}

fn texts() -> Texts {
    let of = |name: &str, sql: &str, rows| Statement { name: name.into(), sql: sql.into(), rows };
    Texts::of(
        Engine::Postgres,
        &[
            of("change", "UPDATE public.t SET n = n + $2 WHERE id = $1", false),
            of("read", "SELECT n FROM public.t WHERE id = $1", true),
            of("wrong", "INSERT INTO public.t VALUES ($1, 0)", false),
        ],
    )
}

fn number(value: i64) -> Value {
    Value::Int(value)
}

#[test]
fn what_a_session_of_either_server_writes_is_on_both_and_what_fails_on_neither() {
    let Some(both) = Both::start() else { return };
    writes(&both, 0);
    both.at(false, &["UPDATE public.t SET n = 0"]);
    both.at(
        true,
        &[
            "ALTER TABLE public.t DROP CONSTRAINT t_n_check",
            "UPDATE public.t SET n = 0",
            "INSERT INTO public.t VALUES (9, 0)",
        ],
    );
    writes(&both, 1);
}

fn writes(both: &Both, node: u32) {
    let mut session = both.database.session(&texts(), &Sessions { node, ..Sessions::default() }).unwrap();
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.begin(true);
    batch.call(0, [number(3), number(5)]);
    batch.call(1, [number(3)]);
    batch.commit();
    // Outside of a transaction, too.
    batch.call(0, [number(4), number(7)]);
    batch.call(1, [number(4)]);
    session.run(&batch, &mut answers).unwrap();
    assert_eq!(answers.len(), 6, "one answer for each call");
    assert_eq!((answers.get(2).field(0, 0), answers.get(5).field(0, 0)), (&number(5), &number(7)));
    let [near, far] = both.rows();
    assert!(near == far && near[2][1] == number(5) && near[3][1] == number(7), "{near:?} {far:?}");
    let mut batch = Batch::default();
    batch.begin(true);
    batch.call(0, [number(5), number(1)]);
    batch.call(2, [number(1)]);
    batch.commit();
    assert!(session.run(&batch, &mut Answers::default()).is_err(), "the key is there already");
    let [near, far] = both.rows();
    assert!(near == far && near[4][1] == number(0), "{near:?} {far:?}");
    // A change that only one of both takes is kept by neither, and the session goes on.
    both.at(true, &["DELETE FROM public.t WHERE id = 9", "ALTER TABLE public.t ADD CHECK (n < 100)"]);
    let mut batch = Batch::default();
    batch.begin(true);
    batch.call(0, [number(6), number(100)]);
    batch.commit();
    assert!(session.run(&batch, &mut Answers::default()).is_err());
    assert_eq!(both.rows()[0][5][1], number(0));
    assert_eq!(both.left(), NONE_LEFT);
}

#[test]
fn a_writing_transaction_waits_three_times_for_the_far_server_and_a_read_for_nobody() {
    let Some(both) = Both::start() else { return };
    for node in [0, 1] {
        let mut session = both.database.session(&texts(), &Sessions { node, ..Sessions::default() }).unwrap();
        let mut trips = |fill: &dyn Fn(&mut Batch)| {
            let (mut batch, before) = (Batch::default(), both.database.round_trips());
            fill(&mut batch);
            session.run(&batch, &mut Answers::default()).unwrap();
            both.database.round_trips() - before
        };
        assert_eq!(trips(&|batch| batch.call(0, [number(4), number(1)])), 3, "its work, and both phases");
        assert_eq!(trips(&|batch| batch.call(1, [number(4)])), 0);
        let whole = |batch: &mut Batch| {
            batch.begin(true);
            batch.call(0, [number(3), number(1)]);
            batch.call(1, [number(3)]);
            batch.commit();
        };
        assert_eq!(trips(&whole), 3);
    }
    let [near, far] = both.rows();
    assert_eq!(near, far);
}

#[test]
fn whoever_ends_between_two_steps_of_a_commit_leaves_nothing_in_doubt() {
    let Some(both) = Both::start() else { return };
    let change =
        |id: u32| format!("BEGIN; UPDATE public.t SET n = 1 WHERE id = {id}; PREPARE TRANSACTION 'prony_test_{id}'");
    let (near_alone, both_prepared, far_alone) = (change(1), change(2), change(3));
    both.at(false, &[&near_alone]);
    both.at(false, &[&both_prepared]);
    both.at(true, &[&both_prepared]);
    both.at(false, &[&far_alone, "COMMIT PREPARED 'prony_test_3'"]);
    both.at(true, &[&far_alone]);
    // Somebody else's are not ours to end.
    both.at(false, &["BEGIN; UPDATE public.t SET n = 1 WHERE id = 4; PREPARE TRANSACTION 'theirs'"]);
    // Both crash, and come again.
    let servers = [Server::find(both.folder.path(), "server", Arc::default()).unwrap()];
    servers.iter().for_each(|server| server.kill().unwrap());
    servers.iter().for_each(|server| server.up(&settings()).unwrap());
    assert_eq!(both.left(), "3 transactions were left prepared and ended");
    let [near, far] = both.rows();
    let kept: Vec<&Value> = near.iter().take(3).map(|row| &row[1]).collect();
    assert_eq!(kept, [&number(0), &number(1), &number(1)]);
    assert_eq!(near, far);
    assert_eq!(both.left(), NONE_LEFT, "twice in a row there is nothing left");
    both.at(false, &["ROLLBACK PREPARED 'theirs'"]);
}
