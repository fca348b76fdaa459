//! What a private PostgreSQL does as one node of a pair: it lies where the pair lies, copies another, goes back to another,
//! follows, and takes new settings while it runs.
//!
//! The one idea: all that a role changes stands in the one configuration file, which only we write; so a node that is away has its
//! role too when it comes again, and neither a copy nor a rewind brings it the settings of the other.

use super::{Postgres, Server, USER};
use crate::server::kind::ServerKind as _;
use crate::server::laid;
use crate::server::member::{Behind, Member, Settings};
use crate::server::owner::Owner;
use crate::server::start::END_SECONDS;
use crate::server::{folder, process};
use crate::{DatabaseError, Session, Texts};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Engine, Sessions};

/// Seconds in which a node has to let us in; one that does not counts as lost.
const PATIENCE: u64 = 3;

/// The setting that says which of our configurations a server has read.
const READ: &str = "prony.read";

/// How long a server may take to read a new configuration.
const READ_SECONDS: u64 = 10;

/// The statement that stands for the content of a table: its number of rows, and a hash over all of them, whatever their order.
pub fn content(table: &str) -> String {
    format!(
        "SELECT count(*)::text, coalesce(sum(hashtextextended(prony_row::text, 0)::numeric), 0)::text FROM ONLY {table} prony_row"
    )
}

impl Server {
    /// The server in this very folder, whether it runs or not. Starts nothing.
    ///
    /// # Errors
    /// When PostgreSQL is not installed.
    pub fn at(folder: &Path, stop: Arc<AtomicBool>) -> Result<Server, DatabaseError> {
        Ok(Server {
            folder: folder.to_owned(),
            kind: Postgres::find()?,
            owner: Owner::of(Postgres::USERS),
            stop,
            laid: None,
        })
    }

    /// The number of the user as whom servers run.
    pub fn user() -> u32 {
        Owner::of(Postgres::USERS).uid
    }

    /// Settings with the number by which they are known again.
    fn numbered(&self, settings: &[(String, String)]) -> Result<(Vec<(String, String)>, String), DatabaseError> {
        let text = self.kind.configuration(&self.folder, settings)?;
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let number: String = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let mut all = settings.to_vec();
        all.push((READ.to_owned(), number.clone()));
        Ok((all, number))
    }

    fn standing_by(&self) -> PathBuf {
        self.data().join("standby.signal")
    }

    /// Ends it and puts a copy of another in the place of its data. The other keeps its log for the copy in this slot, where one is named;
    /// what it has in a tablespace in `tables` lies beside the copy.
    ///
    /// # Errors
    /// When it does not end, or the copy fails; its data are as before then.
    pub(super) fn copy_of(&self, source: &str, slot: &str, tables: Option<&Path>) -> Result<(), DatabaseError> {
        folder::ours(&self.folder, &self.owner)?;
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.end_within(END_SECONDS)?;
        self.laid.as_ref().map_or(Ok(()), |laid| laid.reach(&self.owner))?;
        let half = self.half()?;
        folder::remove(&half)?;
        folder::given(&half, &self.owner)?;
        let mut command = self.program("pg_basebackup");
        command.args(["--checkpoint=fast", "--wal-method=stream", "--no-sync", "--no-password", "--dbname", source]);
        command.args([["--slot", slot]].iter().flatten().filter(|_| !slot.is_empty()));
        command.arg("--pgdata").arg(&half);
        if let Some(tables) = tables {
            let own = self.data().with_file_name(laid::TABLES);
            folder::remove(&own)?;
            folder::given(&own, &self.owner)?;
            command.arg("--tablespace-mapping").arg(format!("{}={}", tables.display(), own.display()));
        }
        if let Err(error) = self.succeeds(command, "its data were not copied") {
            return folder::remove(&half).and(Err(error));
        }
        folder::replace(&half, &self.data())
    }

    pub(super) fn program(&self, name: &str) -> Command {
        self.owner.command(&self.kind.server.with_file_name(name))
    }

    fn by_owner(&self, program: &str, files: &[&Path]) -> Result<(), DatabaseError> {
        let mut command = self.owner.command(Path::new(program));
        command.args(files);
        self.succeeds(command, "its data could not be marked")
    }

    fn log_folder(&self) -> PathBuf {
        self.data().join("pg_wal")
    }

    /// That of the newest segment of its log.
    fn timeline(&self) -> Option<u32> {
        let names =
            self.log_folder().read_dir().ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.len() == 24).filter_map(|name| u32::from_str_radix(&name[..8], 16).ok()).max()
    }

    pub(super) fn succeeds(&self, command: Command, failed: &str) -> Result<(), DatabaseError> {
        match self.carried_out(command)? {
            None => Ok(()),
            Some(text) => Err(self.full(&text).unwrap_or_else(|| self.says(format!("{failed}: {text}")))),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A place in a log as PostgreSQL writes it.
fn place(bytes: u64) -> String {
    format!("{:X}/{:X}", bytes >> 32, bytes & 0xffff_ffff)
}

fn read_place(text: &str) -> Option<u64> {
    let (high, low) = text.split_once('/')?;
    Some(u64::from_str_radix(high, 16).ok()? << 32 | u64::from_str_radix(low, 16).ok()?)
}

/// What `pg_waldump --stats=record` says, which ends with an error where the log ends. Before version 15 it does not say where that is.
fn behind(from: u64, counts: &str, error: &str) -> Option<Behind> {
    let Some((_, end)) =
        counts.lines().find_map(|line| line.strip_prefix("WAL statistics between ")?.split_once(" and "))
    else {
        return error.contains("could not find a valid record after").then_some(Behind { end: from, commits: 0 });
    };
    // A client is told of each of these.
    const TOLD: [&str; 3] = ["Transaction/COMMIT", "Transaction/COMMIT_PREPARED", "Transaction/PREPARE"];
    let rows = counts.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let told = rows.filter(|row| row.first().is_some_and(|name| TOLD.contains(&name.trim_end_matches("+INIT"))));
    let commits = told.map(|row| row.get(1)?.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Behind { end: read_place(end.trim_end_matches(':'))?, commits })
}

impl Member for Server {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn url(&self) -> String {
        format!("postgres://{USER}@/postgres?host={}", self.run().display())
    }

    fn reached_by(&self, via: Option<&str>, name: &str) -> String {
        let host = via
            .map_or_else(|| self.run().display().to_string(), str::to_owned)
            .replace('\\', "\\\\")
            .replace('\'', "\\'");
        format!("host='{host}' port=5432 user={USER} dbname=postgres application_name={name} connect_timeout=5")
    }

    fn session(&self, database: &str) -> Result<Box<dyn Session>, DatabaseError> {
        let mut connect = self.connect();
        (connect.database, connect.patience) = (database.to_owned(), PATIENCE);
        let mut session = connect.open(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default())?;
        session.stop_by(self.stop.clone());
        Ok(Box::new(session))
    }

    fn has_data(&self) -> bool {
        self.data().is_dir()
    }

    fn first_process(&self) -> Option<u32> {
        self.process()
    }

    fn told(&self, settings: &Settings, answers: bool) -> Result<(), DatabaseError> {
        if !self.folder.exists() {
            // Its next start makes it, with what it is told then.
            return Ok(());
        }
        let (settings, number) = self.numbered(settings)?;
        let conf = self.kind.configuration(&self.folder, &settings)?;
        if folder::read(&self.conf()).is_some_and(|now| now == conf) {
            return Ok(());
        }
        folder::write(&self.conf(), &conf)?;
        let Some(pid) = self.process().filter(|_| answers) else { return Ok(()) };
        process::signal(pid, &self.mark(), Signal::HUP);
        self.until(READ_SECONDS, "it did not read its new configuration", || {
            let read = self.session("postgres").ok().and_then(|mut session| session.one(&format!("SHOW {READ}")).ok());
            Ok(read.flatten().is_some_and(|value| value.text() == Some(&number)))
        })
    }

    fn serve(&self, settings: &Settings, stands_by: bool) -> Result<(), DatabaseError> {
        if self.process().is_some() && Postgres::is_ready(&self.folder) && self.session("postgres").is_err() {
            // It serves by its own account, and answers nobody.
            self.kill()?;
        }
        if self.process().is_some() {
            self.told(settings, Postgres::is_ready(&self.folder))?;
            return self.ready();
        }
        self.free_of_strangers()?;
        if stands_by {
            self.by_owner("touch", &[&self.standing_by()])?;
        }
        let settings = self.numbered(settings)?.0;
        self.up(&settings)
    }

    fn unoccupied(&self) -> Result<(), DatabaseError> {
        self.free_of_strangers()
    }

    fn ended(&self) -> Result<(), DatabaseError> {
        self.end_stopped()?;
        self.down().map(drop)
    }

    fn copied_from(&self, source: &str, slot: &str) -> Result<(), DatabaseError> {
        self.copy_of(source, slot, None)
    }

    fn back_to(&self, source: &str) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.end_within(END_SECONDS)?;
        let mut command = self.program("pg_rewind");
        command.arg("--source-server").arg(source).arg("--target-pgdata").arg(self.data());
        if self.kind.major >= 15 {
            command.arg("--config-file").arg(self.conf());
        }
        self.succeeds(command, "it did not go back")
    }

    fn removed(&self) -> Result<(), DatabaseError> {
        self.remove().map(drop)
    }

    fn closed_at(&self) -> Result<Option<String>, DatabaseError> {
        let mut command = self.program("pg_controldata");
        command.arg("--pgdata").arg(self.data()).env("LC_ALL", "C");
        let said = process::output(command, &self.stop)?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned());
        let closed = value("Database cluster state:").is_some_and(|state| state.starts_with("shut down"));
        Ok(value("Latest checkpoint location:").filter(|_| closed))
    }

    fn log_behind(&self, from: u64) -> Result<Option<Behind>, DatabaseError> {
        // One that runs may write on.
        let Some(timeline) = self.timeline().filter(|_| self.process().is_none()) else { return Ok(None) };
        let mut command = self.program("pg_waldump");
        command.args(["--stats=record", "--timeline", &timeline.to_string(), "--start", &place(from), "--path"]);
        command.arg(self.log_folder()).env("LC_ALL", "C");
        match process::output(command, &self.stop) {
            Err(DatabaseError::Stopped) => Err(DatabaseError::Stopped),
            Err(_) => Ok(None),
            Ok(said) => Ok(behind(from, &text(&said.stdout), &text(&said.stderr))),
        }
    }

    fn barred(&self, stands_by: bool) -> Result<(), DatabaseError> {
        if self.folder.exists() {
            self.kill()?;
        }
        if stands_by && self.has_data() { self.by_owner("touch", &[&self.standing_by()]) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_log_holds_behind_a_place_is_read_from_its_counts_and_unknown_where_they_are_missing() {
        let counts = "WAL statistics between 0/3000148 and 1/30008F0:\n\
            Type                       N      (%)          Record size      (%)\n\
            ----                       -      ---          -----------      ---\n\
            Heap/INSERT              209 ( 49.88)                12331 ( 53.33)\n\
            Transaction/COMMIT       205 ( 48.93)                 6970 ( 30.14)\n\
            Transaction/ABORT          3 (  0.72)                  102 (  0.44)\n\
            Transaction/PREPARE        4 (  0.95)                  136 (  0.59)\n";
        let ends =
            "pg_waldump: error: error in WAL record at 1/30008F0: invalid record length at 1/3000918: wanted 24, got 0";
        let read = |counts, error| behind(0x0300_0100, counts, error);
        assert_eq!(read(counts, ends), Some(Behind { end: 0x1_0300_08f0, commits: 209 }));
        let nothing = "pg_waldump: error: could not find a valid record after 0/3000100";
        assert_eq!(read("", nothing), Some(Behind { end: 0x0300_0100, commits: 0 }));
        assert_eq!(read("", "pg_waldump: error: could not find file \"000000010000000000000003\""), None);
        assert_eq!(read(&counts.replace("WAL statistics", "statistics"), ends), None, "nobody says where it ends");
        assert_eq!(read_place(&place(0x12_3456_789a)), Some(0x12_3456_789a));
    }
}
