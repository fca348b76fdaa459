//! Sessions, fills and files, on real SQLite files.

use crate::dataset::{DataSet, Filled, Found, Progress, Stage, State, fill, recognise, use_up};
use crate::{Database, DatabaseError, FailureKind, OpenOptions, Profiling, Session, Texts, open};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};
use workload::transaction::{Answers, Batch, Statement, Value};

fn desk(customers: u64, seed: u64) -> DataSet {
    seeded(Scale { preset: Preset::Desk, customers, days: 2 }, seed)
}

fn at(path: &Path, dataset: Option<DataSet>) -> Box<dyn Database> {
    let spec = DatabaseSpec::new(Engine::Sqlite, At::File(path.display().to_string()));
    let cache_dir = path.parent().unwrap().to_owned();
    let options =
        OpenOptions { cache_dir, dataset, settings: Vec::new(), profiling: Profiling::default(), stop: Arc::default() };
    open(&spec, &options).unwrap()
}

fn filled(database: &dyn Database, dataset: &DataSet, copy: bool) -> Result<Filled, DatabaseError> {
    fill(database, dataset, copy, &|_| {}, &AtomicBool::new(false))
}

fn plain(database: &dyn Database) -> Box<dyn Session> {
    database.session(&Texts::none(Engine::Sqlite), &Sessions::default()).unwrap()
}

fn number(session: &mut dyn Session, sql: &str) -> i64 {
    session.query(sql).unwrap()[0][0].int().unwrap()
}

fn statement(sql: &str) -> Statement {
    Statement { name: sql.to_owned(), sql: sql.to_owned(), rows: sql.starts_with("SELECT") }
}

/// A folder with a file of one table and two statements on it.
fn counters() -> (tempfile::TempDir, Box<dyn Database>, Texts) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.sqlite");
    std::fs::File::create(&path).unwrap();
    let database = at(&path, None);
    plain(&*database)
        .script("CREATE TABLE c (id INTEGER PRIMARY KEY, n INTEGER NOT NULL); INSERT INTO c VALUES (1, 0)")
        .unwrap();
    let list = [
        "SELECT n FROM c WHERE id = $1 FOR UPDATE",
        "UPDATE c SET n = n + $2 WHERE id = $1",
        "INSERT INTO c VALUES ($1, $2)",
    ];
    (folder, database, Texts::of(Engine::Sqlite, &list.map(statement)))
}

fn told(session: &mut dyn Session, fill: impl FnOnce(&mut Batch)) -> Result<Answers, crate::Failure> {
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    fill(&mut batch);
    session.run(&batch, &mut answers).map(|()| answers)
}

#[test]
fn every_protocol_gives_the_same_answers() {
    let (_folder, database, texts) = counters();
    for (round, protocol) in [Protocol::Simple, Protocol::Extended, Protocol::Prepared].into_iter().enumerate() {
        let mut session = database.session(&texts, &Sessions { protocol, ..Sessions::default() }).unwrap();
        let answers = told(&mut *session, |batch| {
            batch.begin(true);
            batch.call(0, [Value::Int(1)]);
            batch.call(1, [Value::Int(1), Value::Int(5)]);
            batch.call(0, [Value::Int(1)]);
            batch.commit();
        });
        let answers = answers.unwrap();
        assert_eq!(answers.len(), 5);
        assert_eq!((answers.get(1).int(0, 0), answers.get(3).int(0, 0)), (5 * round as i64, 5 * round as i64 + 5));
        assert_eq!((answers.get(1).changed, answers.get(2).changed), (0, 1));
    }
}

#[test]
fn after_a_failure_nothing_is_kept_and_the_session_goes_on() {
    let (_folder, database, texts) = counters();
    let mut session = database.session(&texts, &Sessions::default()).unwrap();
    let failed = told(&mut *session, |batch| {
        batch.begin(true);
        batch.call(1, [Value::Int(1), Value::Int(5)]);
        batch.call(2, [Value::Int(1), Value::Int(0)]);
        batch.commit();
    });
    assert_eq!(failed.unwrap_err().kind, FailureKind::Refused);
    let other =
        told(&mut *database.session(&texts, &Sessions::default()).unwrap(), |batch| batch.call(0, [Value::Int(1)]));
    assert_eq!(other.unwrap().get(0).int(0, 0), 0);
    let after = told(&mut *session, |batch| {
        batch.begin(true);
        batch.call(1, [Value::Int(1), Value::Int(7)]);
        batch.rollback();
        batch.call(1, [Value::Int(1), Value::Int(1)]);
        batch.call(0, [Value::Int(1)]);
    });
    assert_eq!(after.unwrap().last().int(0, 0), 1);
}

#[test]
fn writers_get_their_turns_in_order_and_none_waits_in_a_busy_handler() {
    let (_folder, database, texts) = counters();
    let turns = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for writer in 0..6_i64 {
            let (database, texts, turns) = (&database, &texts, &turns);
            scope.spawn(move || {
                let mut session = database.session(texts, &Sessions::default()).unwrap();
                for _ in 0..40 {
                    told(&mut *session, |batch| {
                        batch.begin(true);
                        batch.call(0, [Value::Int(1)]);
                        batch.call(1, [Value::Int(1), Value::Int(1)]);
                    })
                    .unwrap();
                    // Still inside the transaction: only one can be here.
                    turns.lock().unwrap().push(writer);
                    told(&mut *session, Batch::commit).unwrap();
                }
            });
        }
    });
    assert_eq!(number(&mut *plain(&*database), "SELECT n FROM c"), 240);
    let turns = turns.into_inner().unwrap();
    // While all six still write, nobody has a second turn before the others, but for the one who has just begun.
    for writer in 0..6 {
        let places: Vec<usize> = (0..turns.len()).filter(|at| turns[*at] == writer).collect();
        let steady: Vec<_> = places.windows(2).filter(|pair| pair[1] < turns.len() - 40).collect();
        assert!(steady.iter().all(|pair| pair[1] - pair[0] <= 6), "writer {writer}: {places:?}");
    }
}

#[test]
fn a_reader_that_turns_writer_waits_for_its_turn_too() {
    let (_folder, database, texts) = counters();
    let mut first = database.session(&texts, &Sessions::default()).unwrap();
    told(&mut *first, |batch| {
        batch.begin(true);
        batch.call(1, [Value::Int(1), Value::Int(1)]);
    })
    .unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut session = database.session(&texts, &Sessions::default()).unwrap();
            let answers = told(&mut *session, |batch| batch.call(1, [Value::Int(1), Value::Int(10)]));
            (answers.map(|answers| answers.get(0).changed), done.load(Ordering::SeqCst))
        });
        std::thread::sleep(std::time::Duration::from_millis(30));
        done.store(true, Ordering::SeqCst);
        told(&mut *first, Batch::commit).unwrap();
        assert_eq!(second.join().unwrap(), (Ok(1), true));
    });
}

#[test]
fn a_session_that_is_cut_leaves_its_statement_and_the_line_and_did_not_fail() {
    let (_folder, database, texts) = counters();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let texts_of_one = Texts::of(Engine::Sqlite, &[statement(endless)]);
    let [mut holder, mut waiter] = [(); 2].map(|()| database.session(&texts, &Sessions::default()).unwrap());
    let mut asker = database.session(&texts_of_one, &Sessions::default()).unwrap();
    told(&mut *holder, |batch| batch.begin(true)).unwrap();
    let cuts = [asker.cut().unwrap(), waiter.cut().unwrap()];
    std::thread::scope(|scope| {
        let asks = scope.spawn(move || told(&mut *asker, |batch| batch.call(0, [])).map(drop));
        let waits = scope.spawn(move || told(&mut *waiter, |batch| batch.begin(true)).map(drop));
        // A cut that comes before the call finds nothing to end.
        while !asks.is_finished() || !waits.is_finished() {
            cuts.iter().for_each(|cut| cut());
            std::thread::yield_now();
        }
        for ended in [asks.join().unwrap(), waits.join().unwrap()] {
            assert_eq!(ended.unwrap_err().kind, FailureKind::Stopped);
        }
    });
    told(&mut *holder, |batch| batch.commit()).unwrap();
}

#[test]
fn a_session_that_is_dropped_in_a_transaction_gives_its_turn_to_the_next() {
    let (_folder, database, texts) = counters();
    let mut first = database.session(&texts, &Sessions::default()).unwrap();
    told(&mut *first, |batch| batch.begin(true)).unwrap();
    drop(first);
    let mut second = database.session(&texts, &Sessions::default()).unwrap();
    told(&mut *second, |batch| batch.call(1, [Value::Int(1), Value::Int(1)])).unwrap();
}

#[test]
fn a_fill_makes_the_data_set_and_the_next_one_finds_it() {
    let folder = tempfile::tempdir().unwrap();
    let (path, set) = (folder.path().join("desk.sqlite"), desk(50, 7));
    let database = at(&path, Some(set.clone()));
    let stages = Mutex::new(Vec::new());
    let tell = |progress: Progress| stages.lock().unwrap().push(progress);
    let Filled::Anew { rows } = fill(&*database, &set, false, &tell, &AtomicBool::new(false)).unwrap() else {
        panic!()
    };
    let mut session = plain(&*database);
    let counted: i64 =
        set.tables().iter().map(|table| number(&mut *session, &format!("SELECT count(*) FROM {}", table.name))).sum();
    assert_eq!(rows, counted as u64);
    assert_eq!(number(&mut *session, "SELECT count(*) FROM trade"), 5_760);
    assert!(session.query("PRAGMA foreign_key_check").unwrap().is_empty());
    assert_eq!(session.query("PRAGMA journal_mode").unwrap()[0][0].text(), Some("wal"));
    assert_eq!(number(&mut *session, "PRAGMA foreign_keys"), 1);
    assert_eq!(filled(&*database, &set, false).unwrap(), Filled::Reused { state: State::Ready });
    let stages = stages.into_inner().unwrap();
    let last = stages.iter().rfind(|progress| progress.stage == Stage::Rows).unwrap();
    assert_eq!(last.done, rows);
    use_up(&*database, &set).unwrap();
    assert_eq!(filled(&*database, &set, false).unwrap(), Filled::Reused { state: State::Used });
}

#[test]
fn the_house_keeps_its_references() {
    let folder = tempfile::tempdir().unwrap();
    let set = seeded(Scale { preset: Preset::House, customers: 20, days: 1 }, 3);
    let database = at(&folder.path().join("house.sqlite"), Some(set.clone()));
    filled(&*database, &set, false).unwrap();
    let mut session = plain(&*database);
    assert!(session.query("PRAGMA foreign_key_check").unwrap().is_empty());
    let refused = session.script("INSERT INTO watchlist VALUES (999999, 888888)").unwrap_err();
    assert!(refused.text.contains("FOREIGN KEY"), "{refused}");
}

#[test]
fn a_fill_that_was_stopped_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (path, set) = (folder.path().join("desk.sqlite"), desk(50, 7));
    let database = at(&path, Some(set.clone()));
    let stop = AtomicBool::new(false);
    let tell =
        |progress: Progress| stop.store(progress.stage == Stage::Rows && progress.done > 15_000, Ordering::Relaxed);
    assert!(matches!(fill(&*database, &set, false, &tell, &stop), Err(DatabaseError::Stopped)));
    assert!(matches!(database.find(&set).unwrap(), Found::Ours(mark) if mark.state == State::Filling));
    assert!(matches!(filled(&*database, &set, false).unwrap(), Filled::Anew { .. }));
}

#[test]
fn a_stop_ends_the_wait_for_a_file_that_another_process_has_locked() {
    let folder = tempfile::tempdir().unwrap();
    let (path, dataset, stop) = (folder.path().join("a.sqlite"), desk(2, 7), Arc::new(AtomicBool::new(false)));
    filled(&*at(&path, Some(dataset.clone())), &dataset, false).unwrap();
    let spec = DatabaseSpec::new(Engine::Sqlite, At::File(path.display().to_string()));
    let (cache_dir, settings, profiling) = (folder.path().to_owned(), Vec::new(), Profiling::default());
    let options = OpenOptions { cache_dir, dataset: Some(dataset.clone()), settings, profiling, stop: stop.clone() };
    let database = open(&spec, &options).unwrap();
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    stop.store(true, Ordering::Relaxed);
    let stopped = |error: DatabaseError| assert!(matches!(error, DatabaseError::Stopped), "{error}");
    stopped(database.find(&dataset).unwrap_err());
    stopped(database.make(&dataset).unwrap_err());
    stopped(use_up(&*database, &dataset).unwrap_err());
}

/// Of a file in the cache everything is Prony's. What else is in a file of the user's that cannot be read, nobody knows.
#[test]
fn a_fill_that_was_cut_off_in_the_middle_of_a_page_is_begun_anew_in_the_cache_alone() {
    let (folder, set) = (tempfile::tempdir().unwrap(), desk(50, 7));
    let spec = DatabaseSpec::new(Engine::Sqlite, At::Cache);
    let (cache_dir, profiling) = (folder.path().join("new"), Profiling::default());
    let dataset = Some(set.clone());
    let options =
        OpenOptions { cache_dir: cache_dir.clone(), dataset, settings: Vec::new(), profiling, stop: Arc::default() };
    let chosen = open(&spec, &options).unwrap();
    let own = folder.path().join("desk.sqlite");
    let named = at(&own, Some(set.clone()));
    for (database, path) in [(&chosen, cache_dir.join("brokerage-desk-50-2-7.sqlite")), (&named, own.clone())] {
        database.make(&set).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100..].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
    }
    assert!(matches!(filled(&*chosen, &set, false).unwrap(), Filled::Anew { .. }));
    let before = std::fs::read(&own).unwrap();
    assert!(matches!(filled(&*named, &set, false).unwrap_err(), DatabaseError::Damaged { .. }));
    assert_eq!(std::fs::read(&own).unwrap(), before);
}

/// It was called a fill that had been cut off, and removed with all that its ledger would have missed.
#[test]
fn a_data_set_that_was_whole_and_cannot_be_read_is_damaged_and_stays() {
    let (folder, set) = (tempfile::tempdir().unwrap(), desk(50, 7));
    let path = folder.path().join("desk.sqlite");
    filled(&*at(&path, Some(set.clone())), &set, false).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in [4096, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let refused = filled(&*at(&path, Some(set.clone())), &set, false).unwrap_err();
        assert!(matches!(refused, DatabaseError::Damaged { .. }), "{length}: {refused}");
        assert!(refused.to_string().contains("it was left untouched"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap().len(), length);
    }
}

#[test]
fn settings_that_may_lose_an_acknowledged_commit_are_told() {
    let volatile = |engine, settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (version, place) = (String::new(), String::new());
        let told = crate::Facts { engine, version, place, settings }.volatile();
        told.iter().map(|text| text.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let (postgres, mariadb, sqlite) = (Engine::Postgres, Engine::Mariadb, Engine::Sqlite);
    assert_eq!(volatile(postgres, &[("fsync", "on"), ("synchronous_commit", "remote_write")]), "");
    assert_eq!(
        volatile(postgres, &[("fsync", "off"), ("synchronous_commit", "off")]),
        "fsync=off synchronous_commit=off"
    );
    let flush = "innodb_flush_log_at_trx_commit";
    assert_eq!(volatile(mariadb, &[(flush, "1"), ("log_bin", "OFF"), ("sync_binlog", "0")]), "");
    assert_eq!(volatile(mariadb, &[(flush, "2"), ("log_bin", "ON"), ("sync_binlog", "1")]), format!("{flush}=2"));
    assert_eq!(volatile(mariadb, &[(flush, "3"), ("log_bin", "ON"), ("sync_binlog", "0")]), "sync_binlog=0");
    assert_eq!(volatile(sqlite, &[("synchronous", "NORMAL"), ("journal_mode", "DELETE")]), "");
    assert_eq!(volatile(sqlite, &[("synchronous", "NORMAL"), ("journal_mode", "WAL")]), "synchronous=NORMAL");
    assert_eq!(volatile(sqlite, &[("synchronous", "OFF"), ("journal_mode", "WAL")]), "synchronous=OFF");
}

#[test]
fn a_session_makes_no_file_where_one_vanished() {
    let (folder, database, texts) = counters();
    drop(database.session(&texts, &Sessions::default()).unwrap());
    let gone = folder.path().join("own.sqlite");
    std::fs::remove_file(&gone).unwrap();
    let refused = database.session(&texts, &Sessions::default()).err().unwrap();
    assert!(matches!(refused, DatabaseError::Vanished { .. }) && !refused.may_pass(), "{refused}");
    assert!(refused.to_string().contains("own.sqlite is not there: it vanished"), "{refused}");
    assert!(database.checkpoint().is_err() && database.standing().is_empty() && !gone.exists());
}

#[test]
fn a_damaged_page_is_neither_a_lost_server_nor_a_missing_connection() {
    let (folder, database, _) = counters();
    let fill = "WITH RECURSIVE n(id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id < 4000) INSERT INTO c SELECT id, id FROM n";
    plain(&*database).script(fill).unwrap();
    database.checkpoint().unwrap();
    let path = folder.path().join("own.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8192..].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let failure = plain(&*database).query("SELECT sum(n) FROM c").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreadable, "{failure}");
    let told = DatabaseError::statement("here", "look", failure);
    assert!(told.to_string().starts_with("here: pages cannot be read or written: database disk image"), "{told}");
}

/// Every file of a folder with what is in it.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn what_is_not_ours_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = rusqlite::Connection::open(folder.path().join("a.sqlite")).unwrap();
    foreign.execute_batch("CREATE TABLE trade (id); INSERT INTO trade VALUES (1)").unwrap();
    // One that looks like ours from inside.
    let alike = rusqlite::Connection::open(folder.path().join("b.sqlite")).unwrap();
    alike
        .execute_batch("CREATE TABLE prony_dataset (fact, value); INSERT INTO prony_dataset VALUES ('state', 'ready')")
        .unwrap();
    drop((foreign, alike));
    std::fs::write(
        folder.path().join("c.sqlite"),
        "a letter to somebody, longer than the head of a database".repeat(4),
    )
    .unwrap();
    let before = contents(folder.path());
    for name in ["a.sqlite", "b.sqlite", "c.sqlite"] {
        let database = at(&folder.path().join(name), Some(desk(50, 7)));
        assert!(matches!(filled(&*database, &desk(50, 7), true), Err(DatabaseError::NotOurs { .. })));
        assert!(matches!(database.clear(&desk(50, 7)), Err(DatabaseError::NotOurs { .. })));
    }
    assert!(contents(folder.path()) == before);
}

#[test]
fn another_data_set_of_ours_is_named_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.sqlite");
    filled(&*at(&path, None), &desk(20, 7), false).unwrap();
    let error = filled(&*at(&path, None), &desk(20, 8), false).unwrap_err();
    let says = error.to_string();
    assert!(says.contains("brokerage-desk-20-2-7, not brokerage-desk-20-2-8"), "{says}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("desk.sqlite") && !hint.contains("prony db down"), "{hint}");
    recognise(&*at(&path, None), &desk(20, 7)).unwrap();
}

#[test]
fn dropping_removes_every_file_of_a_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let database = at(&folder.path().join("desk.sqlite"), None);
    filled(&*database, &desk(20, 7), true).unwrap();
    assert_eq!(contents(folder.path()).len(), 2);
    database.clear(&desk(20, 7)).unwrap();
    assert_eq!(contents(folder.path()), []);
    assert_eq!(database.find(&desk(20, 7)).unwrap(), Found::Nothing);
}

#[test]
fn a_restore_brings_back_what_the_fill_left() {
    let folder = tempfile::tempdir().unwrap();
    let (path, set) = (folder.path().join("desk.sqlite"), desk(20, 7));
    let database = at(&path, None);
    let refused = {
        filled(&*database, &set, false).unwrap();
        database.restore(&set).unwrap_err()
    };
    assert!(refused.to_string().contains("no copy"), "{refused}");
    filled(&*database, &set, true).unwrap();
    let sum = "SELECT sum(id * 7 + at % 1000 + quantity) + (SELECT sum(balance_cents) FROM account) FROM trade";
    let before = number(&mut *plain(&*database), sum);
    use_up(&*database, &set).unwrap();
    plain(&*database).script("UPDATE trade SET quantity = 1; UPDATE account SET balance_cents = 0").unwrap();
    assert_ne!(number(&mut *plain(&*database), sum), before);
    assert_eq!(filled(&*database, &set, true).unwrap(), Filled::Restored);
    assert_eq!(number(&mut *plain(&*database), sum), before);
    assert_eq!(filled(&*database, &set, true).unwrap(), Filled::Reused { state: State::Ready });
}

#[test]
fn a_file_in_the_cache_is_named_after_its_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let spec = DatabaseSpec::new(Engine::Sqlite, At::Cache);
    let cache_dir = folder.path().join("new");
    let stop = Arc::<AtomicBool>::default();
    let options = OpenOptions {
        cache_dir,
        dataset: Some(desk(20, 7)),
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop,
    };
    let database = open(&spec, &options).unwrap();
    filled(&*database, &desk(20, 7), false).unwrap();
    assert!(folder.path().join("new/brokerage-desk-20-2-7.sqlite").exists());
    assert!(open(&spec, &OpenOptions { dataset: None, ..options }).is_err());
}

#[test]
fn a_script_reaches_no_file_but_its_own() {
    let (folder, database, _) = counters();
    let mut session = plain(&*database);
    let other = folder.path().join("other");
    for sql in ["ATTACH '{}' AS a; CREATE TABLE a.t (n)", "ATTACH 'file:' || '{}' AS a", "VACUUM INTO '{}'"] {
        let sql = sql.replace("{}", &other.display().to_string());
        assert!(session.script(&sql).is_err(), "{sql}");
        assert!(!other.exists(), "{sql}");
    }
    let name = "PRAGMA temp_store = FILE; PRAGMA \"Temp_Store_Directory\" = '/'";
    assert!(session.script(name).unwrap_err().text.contains("not authorized"));
    // A name is a name, and says nothing of how a file is opened.
    let named = at(Path::new(&format!("file:{}?mode=rwc", other.display())), None);
    assert!(named.session(&Texts::none(Engine::Sqlite), &Sessions::default()).is_err() && !other.exists());
}

#[test]
fn a_cache_folder_in_which_others_may_plant_files_is_refused_and_so_is_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (cache, elsewhere) = (folder.path().join("cache"), folder.path().join("elsewhere"));
    std::fs::create_dir(&cache).unwrap();
    let dataset = desk(50, 1);
    let spec = DatabaseSpec::new(Engine::Sqlite, At::Cache);
    let options = OpenOptions {
        cache_dir: cache.clone(),
        dataset: Some(dataset.clone()),
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop: Arc::default(),
    };
    let fill = || filled(&*open(&spec, &options).unwrap(), &dataset, true);
    let may = |mode| std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(mode)).unwrap();
    may(0o1777);
    assert!(format!("{:?}", fill().unwrap_err()).contains("name one of your own with PRONY_CACHE"));
    may(0o700);
    symlink(&elsewhere, cache.join(format!("{}.sqlite", dataset.name()))).unwrap();
    assert!(format!("{:?}", fill().unwrap_err()).contains("it is a link"));
    assert!(!elsewhere.exists());
    std::fs::remove_file(cache.join(format!("{}.sqlite", dataset.name()))).unwrap();
    fill().unwrap();
}

/// A journal that is to be rolled back, and belongs to a change of which `named` tells the other files.
fn journal_that_names(named: &Path) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let name = named.to_str().unwrap().as_bytes();
    let mut bytes = MAGIC.to_vec();
    [0u32, 7, 1, 512, 4096].iter().for_each(|number| bytes.extend(number.to_be_bytes()));
    bytes.resize(512, 0);
    bytes.extend((0x4000_0000u32 / 4096 + 1).to_be_bytes());
    bytes.extend(name);
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(name.iter().map(|byte| u32::from(*byte)).sum::<u32>().to_be_bytes());
    bytes.extend(MAGIC);
    bytes
}

fn pipe(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
}

/// What an error must say, and what plants its cause under a name.
type Plant<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn what_is_planted_beside_a_data_set_deletes_nothing_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (path, victim) = (folder.path().join("desk.sqlite"), folder.path().join("precious"));
    let (database, set) = (at(&path, Some(desk(5, 7))), desk(5, 7));
    filled(&*database, &set, false).unwrap();
    // As a file with a rollback journal has it.
    plain(&*database).script("PRAGMA journal_mode = DELETE").unwrap();
    std::fs::write(&victim, "a day of work").unwrap();
    let link = folder.path().join("link.sqlite");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let beside = |suffix: &str| folder.path().join(format!("desk.sqlite{suffix}"));
    let plants: [Plant<'_>; 4] = [
        ("names another file, which would be deleted", &|at| std::fs::write(at, journal_that_names(&victim)).unwrap()),
        ("is no regular file", &pipe),
        ("is a link", &|at| std::os::unix::fs::symlink(&victim, at).unwrap()),
        ("has a second name elsewhere", &|at| std::fs::hard_link(&victim, at).unwrap()),
    ];
    for (words, plant) in plants {
        plant(&beside("-journal"));
        for path in [&path, &link] {
            let told = format!("{:?}", at(path, Some(set.clone())).find(&set).unwrap_err());
            assert!(told.contains(words), "{told}");
            // A workload of the user's own looks for no mark.
            let own = at(path, None).session(&Texts::none(Engine::Sqlite), &Sessions::default()).err().unwrap();
            assert!(format!("{own:?}").contains(words), "{own:?}");
        }
        std::fs::remove_file(beside("-journal")).unwrap();
    }
    assert_eq!(std::fs::read(&victim).unwrap(), b"a day of work");
    assert_eq!(filled(&*database, &set, false).unwrap(), Filled::Reused { state: State::Ready });
}

#[test]
fn a_pipe_is_no_sqlite_file_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.sqlite");
    pipe(&path);
    let told = format!("{:?}", at(&path, Some(desk(5, 7))).find(&desk(5, 7)).unwrap_err());
    assert!(told.contains("is no regular file"), "{told}");
    let own = at(&path, None).session(&Texts::none(Engine::Sqlite), &Sessions::default()).err().unwrap();
    assert!(format!("{own:?}").contains("is no regular file"), "{own:?}");
}

#[test]
fn a_copy_is_not_written_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (path, victim) = (folder.path().join("desk.sqlite"), folder.path().join("precious"));
    std::fs::write(&victim, "a day of work").unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join("desk.sqlite.kept.half")).unwrap();
    let (database, set) = (at(&path, Some(desk(5, 7))), desk(5, 7));
    filled(&*database, &set, true).unwrap();
    assert_eq!(std::fs::read(&victim).unwrap(), b"a day of work");
    assert!(database.has_copy(&set));
}

#[test]
fn a_data_set_with_a_view_or_a_trigger_of_somebodys_is_named_and_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.sqlite");
    let (database, set) = (at(&path, Some(desk(5, 7))), desk(5, 7));
    filled(&*database, &set, false).unwrap();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let ways = [
        (
            format!("CREATE TRIGGER t BEFORE INSERT ON trade BEGIN {endless}; END"),
            "the trigger t was not made by Prony",
            "DROP TRIGGER t",
        ),
        (
            format!(
                "ALTER TABLE prony_dataset RENAME TO pd; \
                 CREATE VIEW prony_dataset AS SELECT fact, value FROM pd WHERE ({endless}) > 0"
            ),
            "the view prony_dataset was not made by Prony",
            "DROP VIEW prony_dataset; ALTER TABLE pd RENAME TO prony_dataset",
        ),
        (
            "CREATE VIRTUAL TABLE f USING fts3(a)".to_owned(),
            "the virtual table f was not made by Prony",
            "DROP TABLE f",
        ),
    ];
    for (plant, words, remove) in ways {
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch(&plant).unwrap();
        let told = filled(&*database, &set, false).unwrap_err().to_string();
        assert!(told.contains(words), "{told}");
        assert!(database.clear(&set).is_err());
        other.execute_batch(remove).unwrap();
        assert_eq!(filled(&*database, &set, false).unwrap(), Filled::Reused { state: State::Ready });
    }
    // One that comes later is found by the check after a trial.
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE VIEW v AS SELECT 1").unwrap();
    let clock = || std::time::Duration::ZERO;
    let found = crate::dataset::fingerprint(&mut *plain(&*database), Engine::Sqlite, &set, &clock).unwrap();
    assert_eq!(found[0].violations, ["the view v was not made by Prony"]);
}

#[test]
fn an_answer_that_would_fill_the_memory_is_refused() {
    let (_folder, database, _) = counters();
    let mut session = plain(&*database);
    let many = |value: &str| {
        format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT {value} FROM n")
    };
    assert_eq!(session.query(&many("hex(zeroblob(1000))")).unwrap().len(), 9);
    let told = session.query(&many("hex(zeroblob(20000000))")).unwrap_err().text;
    assert!(told.contains("more than 256 MiB at once"), "{told}");
    let told = session.query("SELECT zeroblob(900000000)").unwrap_err().text;
    assert!(told.contains("too big"), "{told}");
}
