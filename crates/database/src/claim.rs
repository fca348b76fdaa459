//! The claim to a data set: who fills it, restores it or runs on it keeps every other Prony away meanwhile.
//!
//! The one idea: a claim is a lock that ends with its holder, however that one ends: a lock on a file beside the data of
//! SQLite and of private servers, a lock of a session's own on a server elsewhere. Whoever comes second is refused and told
//! who was first.
//!
//! What it does not do: inside one process everybody shares one claim, and programs that are no Prony know nothing of it.

use crate::{DatabaseError, Session};
use rustix::fs::{FlockOperation, OFlags, flock};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use study::Engine;
use workload::transaction::Value;

/// A link in the place of the file is not followed: it is written to.
const NO_LINK: i32 = OFlags::NOFOLLOW.bits() as i32;

/// Claims of this process, by what they are to, with how many hold each. What ends a claim happens while this is locked: whoever
/// comes in that moment would find it held, by us.
static HELD: Mutex<BTreeMap<String, (usize, Kept)>> = Mutex::new(BTreeMap::new());

fn held() -> MutexGuard<'static, BTreeMap<String, (usize, Kept)>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A claim; it ends when the last of this process to the same is dropped. Without a name it is to nothing.
pub struct Claim(Option<String>);

impl Drop for Claim {
    fn drop(&mut self) {
        let Some(key) = self.0.take() else { return };
        if let Entry::Occupied(mut entry) = held().entry(key) {
            entry.get_mut().0 -= 1;
            if entry.get().0 == 0 {
                entry.remove();
            }
        }
    }
}

/// What keeps others away.
enum Kept {
    /// A lock on a file of ours.
    File { _locked: Locked },
    /// A lock that a session holds.
    Session { _session: Box<dyn Session> },
}

/// A file that is locked, and removed when the lock ends.
struct Locked {
    path: PathBuf,
    _file: File,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Removed while it is still locked, so that nobody else's can be hit; one that stays does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Claim")
    }
}

/// Who asks, as others are told.
fn myself() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("prony process {} on {host}", std::process::id())
}

/// The claim that this process already has, or a new one.
fn shared(key: &str, take: impl FnOnce() -> Result<Kept, DatabaseError>) -> Result<Claim, DatabaseError> {
    match held().entry(key.to_owned()) {
        Entry::Occupied(mut entry) => entry.get_mut().0 += 1,
        Entry::Vacant(entry) => drop(entry.insert((1, take()?))),
    }
    Ok(Claim(Some(key.to_owned())))
}

impl Claim {
    /// A claim for a database that holds no data, which any number of runs may share.
    pub(crate) fn nothing() -> Claim {
        Claim(None)
    }

    /// A claim by a lock on a file, which is made for it and goes with it.
    pub(crate) fn file(path: &Path, shown: &str, name: &str) -> Result<Claim, DatabaseError> {
        shared(&path.display().to_string(), || match lock(path)? {
            Ok(_locked) => Ok(Kept::File { _locked }),
            Err(holder) => Err(DatabaseError::Claimed { place: shown.to_owned(), name: name.to_owned(), holder }),
        })
    }

    /// A claim by a lock of the server's own, which ends with the session that holds it.
    pub(crate) fn session(
        (engine, place): (Engine, &str),
        name: &str,
        open: impl FnOnce() -> Result<Box<dyn Session>, DatabaseError>,
    ) -> Result<Claim, DatabaseError> {
        shared(&format!("{place} {name}"), || {
            let mut session = open()?;
            let failed = |failure| DatabaseError::statement(place, "claim the data set", failure);
            let words = match engine {
                Engine::Mariadb => maria(name),
                _ => postgres(name),
            };
            session.script(&words.name).map_err(failed)?;
            if session.one(&words.take).map_err(failed)? == Some(Value::Int(1)) {
                return Ok(Kept::Session { _session: session });
            }
            let found = session.text(&words.holder).map_err(failed)?;
            let holder = found.unwrap_or_else(|| "a session that has just ended".to_owned());
            Err(DatabaseError::Claimed { place: place.to_owned(), name: name.to_owned(), holder })
        })
    }
}

/// Refuses when another process has the claim of this file.
pub(crate) fn free(path: &Path, shown: &str, name: &str) -> Result<(), DatabaseError> {
    if !path.exists() {
        return Ok(());
    }
    Claim::file(path, shown, name).map(drop)
}

/// Takes the lock, or answers who has it.
fn lock(path: &Path) -> Result<Result<Locked, String>, DatabaseError> {
    let failed = |source| DatabaseError::file("claim", path, source);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    loop {
        let options =
            File::options().create(true).truncate(false).read(true).write(true).custom_flags(NO_LINK).open(path);
        let mut file = options.map_err(failed)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Ok(Err(if holder.is_empty() { "another prony process".to_owned() } else { holder }));
        }
        // The one before may have removed the file between our opening and our locking it.
        let same = fs::metadata(path).is_ok_and(|now| file.metadata().is_ok_and(|ours| ours.ino() == now.ino()));
        if same {
            // Who has it is a courtesy; the lock holds without a word.
            let _ = file.set_len(0).and_then(|()| file.write_all(myself().as_bytes()));
            return Ok(Ok(Locked { path: path.to_owned(), _file: file }));
        }
    }
}

/// What is said to a server.
struct Words {
    /// Lets others see who this is.
    name: String,
    /// Takes the lock, if nobody has it.
    take: String,
    /// Who has it.
    holder: String,
}

fn postgres(name: &str) -> Words {
    let key = number(name);
    // The server keeps the two halves of a number apart.
    let (high, low) = (key >> 32, key & 0xffff_ffff);
    Words {
        name: format!("SET application_name = '{}'", myself().replace('\'', "")),
        take: format!("SELECT pg_try_advisory_lock({})::int", key as i64),
        holder: format!(
            "SELECT coalesce(a.application_name, '') || ' (server process ' || l.pid || ')' FROM pg_locks l \
             LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted \
             AND l.objsubid = 1 AND l.classid = {high}::bigint::oid AND l.objid = {low}::bigint::oid"
        ),
    }
}

fn maria(name: &str) -> Words {
    let lock = format!("prony-{:016x}", number(name));
    Words {
        name: "DO 0".to_owned(),
        take: format!("SELECT GET_LOCK('{lock}', 0)"),
        holder: format!(
            "SELECT CONCAT('connection ', id, ' of ', user, ' from ', host) FROM information_schema.processlist \
             WHERE id = IS_USED_LOCK('{lock}')"
        ),
    }
}

/// A number for a name, by FNV-1a: the same in every version of Prony.
fn number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_of_somebody_else_is_refused_with_his_name_until_he_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.sqlite.claim");
        // Another opening of the file is what another process has.
        let mut other = File::create(&path).unwrap();
        other.write_all(b"prony process 7 on there").unwrap();
        flock(&other, FlockOperation::LockExclusive).unwrap();
        let refused = Claim::file(&path, "sqlite:desk.sqlite", "desk").unwrap_err().to_string();
        assert!(refused.contains("prony process 7 on there"), "{refused}");
        drop(other);
        let ours = Claim::file(&path, "sqlite:desk.sqlite", "desk").unwrap();
        // Inside one process it is one claim.
        let again = Claim::file(&path, "sqlite:desk.sqlite", "desk").unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains(&std::process::id().to_string()));
        drop(ours);
        assert!(path.exists());
        drop(again);
        assert!(!path.exists(), "the file stays behind");
    }

    #[test]
    fn a_claim_that_ends_refuses_nobody_of_the_same_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("desk.sqlite.claim");
        let rounds = if cfg!(miri) { 3 } else { 400 };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let claim = Claim::file(&path, "sqlite:desk.sqlite", "desk").unwrap();
                        drop(claim);
                    }
                });
            }
        });
        assert!(!path.exists(), "the file stays behind");
    }

    #[test]
    fn names_become_numbers_that_differ() {
        assert_eq!(number(""), 0xcbf2_9ce4_8422_2325);
        assert_ne!(number("prony_brokerage_desk_50_1_1"), number("prony_brokerage_desk_50_1_2"));
    }
}
