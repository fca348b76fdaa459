//! A second private PostgreSQL that follows a first one.
//!
//! The one idea: the mirror is a private server like any other, whose first files are a copy of the primary's. Between trials it is
//! ended, and a replication slot of the primary keeps the log that it lacks; so with and without a mirror it is one primary with one
//! fill.
//!
//! What it does not do: it decides nothing about a pair's life, and carries no log: the mirror reaches the primary by the socket that
//! it is given.

use super::{LagWatch, Postgres, Server};
use crate::server::kind::ServerKind as _;
use crate::server::laid;
use crate::server::{Look, Member as _, Mirror, Private as _, Shared, Watch, WatchLags, folder, life, parted, process};
use crate::{DatabaseError, Failure, FailureKind, Session};
use std::path::{Path, PathBuf};
use study::{Published, TierFolder, Waits};
use units::Nanos;
use workload::transaction::Value;

/// What the mirror is called by the primary, as a slot and as who waits at the other end.
pub(super) const NAME: &str = "prony_mirror";

/// How transactions of ours are called while they are prepared.
pub const PREPARED: &str = "prony_";

/// A server with this file in its data follows another.
const SIGNAL: &str = "standby.signal";

/// What stands in the command line of whoever holds a mirror.
const PROGRAM: &str = "prony";

/// How long the mirror may take to catch up.
const CATCH_UP_SECONDS: u64 = 600;

/// How long it may take to take over.
const TAKE_OVER_SECONDS: u64 = 60;

/// A server and its mirror.
#[derive(Clone, Debug)]
pub struct Standby {
    pub(super) primary: Server,
    pub(super) mirror: Server,
    /// Whether sessions work on both, and the mirror follows nobody.
    lock_step: bool,
    /// Which tables it has, where it follows by a publication and not the log.
    pub(crate) published: Option<Published>,
    /// The settings that the primary serves with.
    serves: Vec<(String, String)>,
}

/// A session on the primary that looks at the mirror.
struct Watcher {
    session: Box<dyn Session>,
    mirror: Standby,
    waits: Waits,
}

impl Watch for Watcher {
    fn look(&mut self) -> Result<Look, DatabaseError> {
        let confirmed = match self.waits {
            Waits::Written => "write_lsn",
            Waits::Applied => "replay_lsn",
            Waits::Nothing | Waits::Local | Waits::Flushed => "flush_lsn",
        };
        let sql = format!(
            "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint, (r.{confirmed} - '0/0')::bigint, \
             (r.state = 'streaming')::int::bigint, greatest(pg_current_wal_flush_lsn() - s.restart_lsn, 0)::bigint, \
             (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep') FROM (SELECT 1) one \
             LEFT JOIN pg_stat_replication r ON r.application_name = '{NAME}' \
             LEFT JOIN pg_replication_slots s ON s.slot_name = '{NAME}'"
        );
        let rows = self.session.query(&sql).map_err(|failure| self.mirror.failed(failure))?;
        let number = |at: usize| rows.first()?.get(at)?.int().map(|number| number.max(0) as u64);
        Ok(Look {
            written: number(0).unwrap_or_default(),
            confirmed: number(1),
            streaming: number(2) == Some(1),
            kept: number(3).unwrap_or_default(),
            waiting: number(4).unwrap_or_default(),
            alone: false,
        })
    }

    fn take_over(&mut self) -> Result<(), DatabaseError> {
        self.mirror.take_over()?;
        self.session = self.mirror.session()?;
        Ok(())
    }

    fn swap(&mut self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        self.mirror.swap(self.waits, settings)?;
        self.session = self.mirror.session()?;
        Ok(())
    }

    fn wait(&mut self, waits: bool) -> Result<(), DatabaseError> {
        if waits {
            return self.mirror.acknowledge(&mut *self.session, self.waits);
        }
        self.mirror.run(&mut *self.session, "ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()")
    }
}

impl Server {
    /// The server that follows this one, or stands beside it in lock step, whether it is there or not.
    pub fn mirror(&self, lock_step: bool) -> Standby {
        let mirror = Server { folder: folder::beside(&self.folder, "mirror"), laid: None, ..self.clone() };
        Standby { primary: self.clone(), mirror, lock_step, published: None, serves: Vec::new() }
    }
}

impl Standby {
    /// The same whose mirror lies elsewhere.
    pub(crate) fn on(mut self, device: Option<&TierFolder>) -> Standby {
        self.mirror = self.mirror.lying_on(device);
        self
    }

    /// Sees to it that what lies at the place of the mirror's data is a way to where it lies today: a mirror that lay elsewhere lacks
    /// what came since, and is copied anew.
    fn placed(&self) -> Result<(), DatabaseError> {
        let lies = self.mirror.folder.join("lies");
        let wanted = self.mirror.laid.iter().flat_map(|laid| laid.layout.folders());
        let wanted: String = wanted.map(|(_, at)| at.folder.path.clone()).collect();
        if folder::read(&lies).unwrap_or_default() == wanted {
            return Ok(());
        }
        self.mirror.down()?;
        let data = self.mirror.folder.join(laid::DATA);
        if data.is_symlink() {
            folder::gone(&data)?
        } else {
            folder::remove(&data)?
        }
        self.drop_slot(&mut *self.session()?)?;
        folder::write(&lies, &wanted)
    }

    /// The same that follows by a publication of these tables.
    pub(crate) fn published(self, published: Option<Published>) -> Standby {
        Standby { published, ..self }
    }

    /// The same of a primary that serves with such settings.
    pub(crate) fn serving(self, serves: Vec<(String, String)>) -> Standby {
        Standby { serves, ..self }
    }

    /// The folder of the socket by which sessions of the first server reach the second one over the wire; of those of the second
    /// (`back`) the first. Paths of sockets are short, so that no folder holds them all.
    pub(crate) fn wire_run(&self, back: bool) -> PathBuf {
        self.mirror.folder.join(if back { "back" } else { "wire" })
    }

    /// The folder of the socket by which the mirror gets what it lacks, where that has a wire of its own.
    fn resync_run(&self) -> PathBuf {
        self.mirror.folder.join("sync")
    }

    /// Starts the mirror, or tells one that runs, to follow by the socket in a folder.
    fn follow_by(&self, near: &Path, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        let conninfo = self.primary.reached_by(Some(&near.display().to_string()), NAME);
        let own = [("primary_conninfo", conninfo.as_str()), ("primary_slot_name", NAME), ("hot_standby", "on")];
        let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
        if self.published.is_some() {
            self.serve_subscriber(settings)?;
            return self.subscribed_by(&conninfo);
        }
        self.mirror.serve(&[settings, &own].concat(), true)
    }

    /// Where sessions of the second server come in.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.mirror.run()
    }

    /// Starts the mirror with these settings, makes it first where it is not there or lacks log that the primary keeps no more, and
    /// waits until it has all and commits of the primary wait as they are to.
    fn follow(&self, waits: Waits, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        self.hold()?;
        let mut session = self.session()?;
        let kept =
            format!("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '{NAME}' AND wal_status <> 'lost'");
        if let Some(published) = &self.published {
            self.subscribe(&mut *session, published, (waits, settings))?;
        // One that took over follows nobody.
        } else if !self.mirror.data().join(SIGNAL).exists() || self.number(&mut *session, &kept)? == 0 {
            self.make(&mut *session)?;
        }
        self.start(settings)?;
        let flushed = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{NAME}' AND state = 'streaming' \
             AND replay_lsn >= pg_current_wal_flush_lsn()"
        );
        self.wait(&mut *session, &flushed, "catch up with its primary")?;
        self.acknowledge(&mut *session, waits)?;
        let state = if waits.far() { "sync" } else { "async" };
        let waited = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{NAME}' AND sync_state = '{state}'"
        );
        self.wait(&mut *session, &waited, &format!("become `{state}` on its primary"))
    }

    /// Starts a second server with a copy of the first that follows nobody: whoever works on both keeps them equal.
    fn stand_beside(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        self.hold()?;
        self.make(&mut *self.session()?)?;
        self.drop_slot(&mut *self.session()?)?;
        self.mirror.serve(settings, false)
    }

    /// Ends what was left prepared when sessions ended in the middle of a commit on both: what the far one alone has was committed on the
    /// near one, what both have was prepared on both, and what the near one alone has was not. Answers with how many there were.
    ///
    /// # Errors
    /// When one of both does not answer.
    fn resolve(&self) -> Result<usize, DatabaseError> {
        let mut near = self.session()?;
        let mut far = self.reader()?;
        let sql = format!("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE '{PREPARED}%' ORDER BY gid");
        let names = |session: &mut dyn Session| -> Result<Vec<String>, DatabaseError> {
            let rows = session.query(&sql).map_err(|failure| self.failed(failure))?;
            Ok(rows.iter().filter_map(|row| row.first()?.text().map(str::to_owned)).collect())
        };
        let (on_near, on_far) = (names(&mut *near)?, names(&mut *far)?);
        for name in &on_near {
            let what = if on_far.contains(name) { "COMMIT" } else { "ROLLBACK" };
            self.run(&mut *near, &format!("{what} PREPARED '{name}'"))?;
        }
        for name in &on_far {
            self.run(&mut *far, &format!("COMMIT PREPARED '{name}'"))?;
        }
        Ok(on_near.iter().chain(on_far.iter().filter(|name| !on_near.contains(name))).count())
    }

    /// Commits of the primary wait as they are to.
    fn acknowledge(&self, session: &mut dyn Session, waits: Waits) -> Result<(), DatabaseError> {
        let names = if waits.far() { NAME } else { "" };
        self.run(
            session,
            &format!(
                "ALTER SYSTEM SET synchronous_standby_names = '{names}'; ALTER SYSTEM SET synchronous_commit = '{}'; \
                 SELECT pg_reload_conf()",
                waits.word()
            ),
        )
    }

    /// It is asked again and again: what is still replayed may cut a question off, or a session.
    fn take_over(&self) -> Result<(), DatabaseError> {
        let (mut session, mut told) = (self.reader()?, false);
        self.mirror.until(TAKE_OVER_SECONDS, "it did not take over", || {
            told = told || session.query("SELECT pg_promote(false)").is_ok();
            match session.query("SELECT 1 WHERE NOT pg_is_in_recovery()") {
                Ok(rows) => return Ok(!rows.is_empty()),
                Err(failure) if failure.kind == FailureKind::Lost => session = self.reader()?,
                Err(failure) if !failure.retryable() => return Err(self.failed(failure)),
                Err(_) => {}
            }
            Ok(false)
        })?;
        life::stand_in(&self.primary, &self.mirror)
    }

    /// Both end in order and their data change places, so that the mirror's data serve where the primary's did, and the primary's follow.
    /// Nobody's commit is acknowledged before they do.
    ///
    /// # Errors
    /// When one does not end or start, or the mirror lacks the end of the log: the primary serves again then.
    fn swap(&self, waits: Waits, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        // What is durable before need not be made so while nobody serves.
        self.run(&mut *self.session()?, "CHECKPOINT")?;
        self.primary.down()?;
        let Some(end) = self.primary.closed_at()? else {
            return Err(self.primary.says("it did not end in order: roles were not swapped".to_owned()));
        };
        let has = format!("SELECT (pg_last_wal_receive_lsn() > '{end}')::int::bigint");
        if self.number(&mut *self.reader()?, &has)? != 1 {
            self.primary.serve(&self.serves, false)?;
            return Err(self.mirror.says("it lacks the end of its primary's log: roles were not swapped".to_owned()));
        }
        self.mirror.down()?;
        let (ours, theirs) = (self.primary.data(), self.mirror.data());
        let between = folder::beside(&ours, "swapped");
        for (from, to) in [(&ours, &between), (&theirs, &ours), (&between, &theirs)] {
            std::fs::rename(from, to).map_err(|source| DatabaseError::file("move", from, source))?;
        }
        let signal = ours.join(SIGNAL);
        std::fs::remove_file(&signal).map_err(|source| DatabaseError::file("remove", &signal, source))?;
        self.primary.serve(&self.serves, false)?;
        let mut session = self.session()?;
        self.acknowledge(&mut *session, waits)?;
        self.run(&mut *session, &format!("SELECT pg_create_physical_replication_slot('{NAME}', true)"))?;
        self.start(settings)?;
        // That of the old primary would keep log there.
        self.drop_slot(&mut *self.reader()?)?;
        let follows = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{NAME}' AND state = 'streaming'"
        );
        self.wait(&mut *session, &follows, "follow the new primary")
    }

    /// Ends what a run that was killed left here: commits that wait for a mirror, transactions that are prepared, a slot that keeps log
    /// for ever, the mirror itself. What a run that goes on has here is left alone.
    ///
    /// # Errors
    /// When the primary refuses.
    pub fn alone(&self) -> Result<(), DatabaseError> {
        match process::number(&self.holder()) {
            Some(holder) if process::runs(holder, PROGRAM) => Ok(()),
            Some(_) => {
                let mut session = self.session()?;
                self.run(&mut *session, "ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()")?;
                let names = format!("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE '{PREPARED}%'");
                let left = session.query(&names).map_err(|failure| self.failed(failure))?;
                for name in left.iter().filter_map(|row| row.first()?.text()) {
                    // Nobody was told that it is committed: that comes when both have committed, this one first.
                    self.run(&mut *session, &format!("ROLLBACK PREPARED '{name}'"))?;
                }
                self.forget()?;
                self.plain_log(&mut *session)
            }
            None => self.released(),
        }
    }

    /// The file that says which Prony has a mirror here.
    fn holder(&self) -> PathBuf {
        self.mirror.folder.join("holder")
    }

    fn hold(&self) -> Result<(), DatabaseError> {
        folder::ours(&self.mirror.folder, &self.mirror.owner)?;
        folder::write(&self.holder(), &std::process::id().to_string())
    }

    pub(super) fn drop_slot(&self, session: &mut dyn Session) -> Result<(), DatabaseError> {
        // One that was held a moment ago is let go of once its sender has noticed.
        let held = format!("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '{NAME}' AND active");
        let free = format!("SELECT 1 - ({held})");
        self.wait(session, &free, "let go of its slot")?;
        self.run(
            session,
            &format!("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '{NAME}'"),
        )?;
        self.unpublish(session)
    }

    /// Copies the primary, with a slot that keeps its log from there on.
    fn make(&self, session: &mut dyn Session) -> Result<(), DatabaseError> {
        self.mirror.down()?;
        self.drop_slot(session)?;
        self.run(session, &format!("SELECT pg_create_physical_replication_slot('{NAME}', true)"))?;
        let tables = self.primary.laid.as_ref().and_then(|laid| laid.part(laid::TABLES));
        self.mirror.copy_of(&self.primary.reached_by(None, NAME), NAME, tables.as_deref())
    }

    pub(super) fn session(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.primary.session("postgres")
    }

    pub(super) fn run(&self, session: &mut dyn Session, sql: &str) -> Result<(), DatabaseError> {
        // Each for itself: some of them may stand in no transaction with others.
        sql.split("; ").try_for_each(|one| session.script(one)).map_err(|failure| self.failed(failure))
    }

    pub(super) fn place(&self) -> String {
        self.primary.shown()
    }

    pub(super) fn failed(&self, failure: Failure) -> DatabaseError {
        DatabaseError::statement(&self.primary.shown(), "see to its mirror", failure)
    }

    pub(super) fn number(&self, session: &mut dyn Session, sql: &str) -> Result<i64, DatabaseError> {
        let rows = session.query(sql).map_err(|failure| self.failed(failure))?;
        Ok(rows.first().and_then(|row| row.first()).and_then(Value::int).unwrap_or(0))
    }

    /// Waits until a count is not 0.
    pub(super) fn wait(&self, session: &mut dyn Session, sql: &str, what: &str) -> Result<(), DatabaseError> {
        let late = format!("it did not {what}");
        self.mirror.until(CATCH_UP_SECONDS, &late, || Ok(self.number(session, sql)? > 0))
    }

    /// Waits until the mirror shows all that the primary has acknowledged.
    fn caught_up(&self) -> Result<(), DatabaseError> {
        let mut session = self.session()?;
        let level = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{NAME}' \
             AND replay_lsn >= pg_current_wal_flush_lsn()"
        );
        self.wait(&mut *session, &level, "apply what its primary has")
    }
}

fn socket(folder: &Path) -> String {
    folder.join(".s.PGSQL.5432").display().to_string()
}

impl Mirror for Standby {
    /// In lock step a wire leads each way, by which sessions of one server reach the other. Else the mirror is who connects.
    fn wires(&self) -> Result<Vec<[String; 2]>, DatabaseError> {
        let folders = [self.wire_run(false), self.wire_run(true)];
        folder::ours(&self.mirror.folder, &self.mirror.owner)?;
        for folder in [&folders[0], &folders[1], &self.resync_run()] {
            folder::fits(Path::new(&socket(folder)))?;
            folder::ours(folder, &self.mirror.owner)?;
        }
        self.placed()?;
        let [there, back] = folders.each_ref().map(|folder| socket(folder.as_path()));
        let [theirs, ours] = [&self.mirror, &self.primary].map(|server| socket(&life::run(&server.folder)));
        Ok(if self.lock_step { vec![[there, theirs], [back, ours]] } else { vec![[there, ours]] })
    }

    fn wired(&self, near: &str) -> Result<(), DatabaseError> {
        let given = self.mirror.owner.give_file(Path::new(near));
        given.map_err(|source| DatabaseError::file("hand over", near, source))
    }

    fn begin(
        &self,
        waits: Waits,
        settings: &[(String, String)],
        _patience: Option<Nanos>,
    ) -> Result<(), DatabaseError> {
        if self.lock_step { self.stand_beside(settings) } else { self.follow(waits, settings) }
    }

    fn content(&self, table: &str) -> String {
        super::content(table)
    }

    fn level(&self) -> Result<String, DatabaseError> {
        if self.lock_step {
            return Ok(format!(
                "{} were left prepared and ended",
                units::counted(self.resolve()? as u64, "transactions")
            ));
        }
        self.caught_up()?;
        self.published.as_ref().map_or(Ok(String::new()), |published| self.tells(published))
    }

    fn pid(&self) -> Option<u32> {
        self.mirror.pid()
    }

    fn parted(&self) -> Result<(), Shared> {
        parted([self.primary.pid(), self.mirror.pid()])
    }

    fn reader(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.mirror.session("postgres")
    }

    fn start(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        self.follow_by(&self.wire_run(false), settings)
    }

    fn resync_wire(&self) -> Option<[String; 2]> {
        Some([socket(&self.resync_run()), socket(&life::run(&self.primary.folder))]).filter(|_| !self.lock_step)
    }

    fn start_apart(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        // The first server may still hold the other connection for a moment.
        let soon = [("wal_retrieve_retry_interval".to_owned(), "100ms".to_owned())];
        self.follow_by(&self.resync_run(), &[settings, &soon].concat())
    }

    fn stop(&self) -> Result<(), DatabaseError> {
        self.mirror.down().map(drop)
    }

    fn kill(&self) -> Result<(), DatabaseError> {
        self.mirror.kill()
    }

    fn kill_primary(&self) -> Result<(), DatabaseError> {
        self.primary.kill()
    }

    /// It is not rewound to follow the mirror.
    fn come_back(&self) -> Result<bool, DatabaseError> {
        self.mirror.remove()?;
        folder::gone(&Postgres::socket(&self.primary.folder))?;
        Ok(false)
    }

    fn lag_watch(&self) -> Result<Option<Box<dyn WatchLags>>, DatabaseError> {
        Ok(if self.lock_step { None } else { Some(Box::new(LagWatch::at(self.session()?, self.place()))) })
    }

    /// Whoever receives the log keeps that count to himself until he ends, and so he is ended; another takes his place.
    fn flush_s(&self) -> Option<f64> {
        let mut session = self.reader().ok().filter(|_| !self.lock_step)?;
        session.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_wal_receiver").ok()?;
        let rows = session.query("SELECT wal_sync_time / 1000 / nullif(wal_sync, 0) FROM pg_stat_wal").ok()?;
        rows.first()?.first()?.number()
    }

    fn unconfirmed(&self) -> u64 {
        let log = std::fs::read_to_string(self.primary.log()).unwrap_or_default();
        log.matches("canceling wait for synchronous replication").count() as u64
    }

    fn watch(&self, waits: Waits) -> Result<Box<dyn Watch>, DatabaseError> {
        Ok(Box::new(Watcher { session: self.session()?, mirror: self.clone(), waits }))
    }

    fn leave(&self) -> Result<(), DatabaseError> {
        self.released()?;
        self.mirror.down().map(drop)
    }

    fn released(&self) -> Result<(), DatabaseError> {
        let changed = std::fs::read_to_string(self.primary.data().join("postgresql.auto.conf")).unwrap_or_default();
        if !changed.contains("synchronous_") {
            return Ok(());
        }
        let mut session = self.session()?;
        self.run(
            &mut *session,
            "ALTER SYSTEM RESET synchronous_standby_names; ALTER SYSTEM RESET synchronous_commit; SELECT pg_reload_conf()",
        )
    }

    fn forget(&self) -> Result<(), DatabaseError> {
        self.leave()?;
        self.drop_slot(&mut *self.session()?)?;
        self.mirror.remove().map(drop)
    }
}
