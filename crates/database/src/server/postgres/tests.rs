//! A real server in a scratch folder, where one is installed.

use super::Server;
use crate::postgres::{Connect, PostgresSession};
use crate::server::kind::ServerKind as _;
use crate::server::process::{self, LOOK};
use crate::server::{End, Mirror, Private, all_down, folder};
use crate::{DatabaseError, Session, Texts};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use study::{Engine, Sessions};
use workload::transaction::Value;

struct Scratch {
    server: Server,
    folder: PathBuf,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn scratch(name: &str) -> Option<Scratch> {
    let folder = std::env::temp_dir().join(format!("prony-pgs-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    match Server::find(&folder, "s", Arc::default()) {
        Ok(server) => Some(Scratch { server, folder }),
        Err(why) => {
            crate::tests::skip::skipped(&why.to_string());
            None
        }
    }
}

fn session(connect: &Connect) -> PostgresSession {
    connect.open(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default()).unwrap()
}

fn set(key: &str, value: &str) -> Vec<(String, String)> {
    vec![(key.to_owned(), value.to_owned()), ("fsync".to_owned(), "off".to_owned())]
}

fn send(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn count(server: &Server) -> i64 {
    session(&server.connect()).query("SELECT count(*) FROM t").unwrap()[0][0].int().unwrap()
}

#[test]
fn a_server_comes_up_stays_the_same_and_starts_anew_only_for_other_settings() {
    let Some(Scratch { server, .. }) = &scratch("up") else { return };
    assert_eq!(server.pid(), None);
    server.up(&set("shared_buffers", "16MB")).unwrap();
    let first = server.pid().unwrap();
    server.up(&set("shared_buffers", "16MB")).unwrap();
    assert_eq!(server.pid(), Some(first));
    session(&server.connect()).script("CREATE TABLE t AS SELECT 1").unwrap();
    server.up(&set("shared_buffers", "24MB")).unwrap();
    assert_ne!(server.pid(), Some(first));
    let shown = session(&server.connect()).query("SHOW shared_buffers").unwrap();
    assert_eq!((shown, count(server)), (vec![vec![Value::Text("24MB".into())]], 1));
    let checksums = session(&server.connect()).query("SHOW data_checksums").unwrap();
    assert_eq!(checksums, [[Value::Text("on".into())]]);
    server.down().unwrap();
    assert_eq!(server.pid(), None);
    server.down().unwrap();
}

#[test]
fn whoever_still_makes_files_for_a_command_that_was_killed_is_ended_before_they_are_made_anew() {
    let Some(Scratch { server, .. }) = &scratch("makes") else { return };
    let half = folder::beside(&server.data(), "half");
    std::fs::create_dir_all(&half).unwrap();
    let mut maker = std::process::Command::new("/bin/sh");
    maker.args(["-c", "n=0; while :; do n=$((n+1)); mkdir -p \"$0/made\"; : > \"$0/made/$n\"; done"]).arg(&half);
    let mut maker = maker.spawn().unwrap();
    while !half.join("made/100").exists() {
        std::thread::yield_now();
    }
    server.up(&[]).unwrap();
    assert!(!maker.wait().unwrap().success() && !half.exists(), "it was ended, and nothing of it stays");
    session(&server.connect()).script("CREATE TABLE t AS SELECT 1").unwrap();
}

#[test]
fn a_killed_server_recovers_what_was_committed() {
    let Some(Scratch { server, .. }) = &scratch("kill") else { return };
    server.up(&[]).unwrap();
    session(&server.connect()).script("CREATE TABLE t AS SELECT 1").unwrap();
    let mut open = session(&server.connect());
    let first = server.pid();
    server.kill().unwrap();
    assert!(open.query("SELECT 1").is_err());
    assert_eq!(server.pid(), None);
    server.up(&[]).unwrap();
    assert!(server.pid() != first && count(server) == 1);
}

/// A backend that is halted does not see that the server is gone, as one that waits for a lock of one that is gone.
#[test]
fn what_outlives_a_server_that_was_killed_is_found_and_ended_by_whoever_kills_ends_or_starts_it_or_removed_its_data() {
    let Some(Scratch { server, .. }) = &scratch("outlives") else { return };
    let left = || server.inside(&server.data()).len();
    let orphaned = || {
        server.up(&[]).unwrap();
        let mut open = session(&server.connect());
        let backend = open.query("SELECT pg_backend_pid()").unwrap()[0][0].int().unwrap();
        send(backend as i32, Signal::STOP);
        let first = server.pid().unwrap();
        send(first as i32, Signal::KILL);
        assert!(process::gone(first, &server.mark(), 10, &server.stop));
        assert!(
            server.inside(&server.data()).iter().any(|(pid, _)| i64::from(*pid) == backend),
            "it outlives the server"
        );
    };
    orphaned();
    server.kill().unwrap();
    assert_eq!(left(), 0, "by whoever kills it");
    orphaned();
    assert_eq!((server.down().unwrap(), left()), (End::Before, 0), "by whoever ends it");
    orphaned();
    let before = server.inside(&server.data());
    server.up(&[]).unwrap();
    let after = server.inside(&server.data());
    assert!(after.iter().all(|(pid, _)| before.iter().all(|(old, _)| old != pid)), "by whoever starts it");
    orphaned();
    std::fs::remove_dir_all(server.data()).unwrap();
    assert!(left() > 0, "it works in a folder that is gone");
    server.kill().unwrap();
    assert_eq!(left(), 0);
}

#[test]
fn a_server_that_is_killed_while_clients_come_in_leaves_no_process() {
    let Some(Scratch { server, .. }) = &scratch("storm") else { return };
    for turn in 0..4 {
        server.up(&set("max_connections", "50")).unwrap();
        let (done, opened) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let came = server.connect().open(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default());
                        opened.fetch_add(u64::from(came.is_ok()), Ordering::Relaxed);
                    }
                });
            }
            while opened.load(Ordering::Relaxed) < 20 {
                std::thread::yield_now();
            }
            let killed = server.kill();
            let left = server.inside(&server.data()).len();
            done.store(true, Ordering::Relaxed);
            killed.unwrap();
            assert_eq!(left, 0, "turn {turn}");
        });
    }
}

/// Numbers of processes come again: another process of the server's user had that of the killed one.
#[test]
fn a_socket_lock_with_the_number_of_another_process_does_not_keep_a_killed_server_down() {
    let Some(Scratch { server, .. }) = &scratch("lock") else { return };
    server.up(&[]).unwrap();
    server.kill().unwrap();
    let mut another = server.owner.command(Path::new("sleep")).arg("60").spawn().unwrap();
    let lock = crate::server::life::run(&server.folder).join(".s.PGSQL.5432.lock");
    std::fs::write(&lock, format!("{}\n", another.id())).unwrap();
    std::os::unix::fs::chown(&lock, Some(server.owner.uid), Some(server.owner.gid)).unwrap();
    let up = server.up(&[]);
    another.kill().and_then(|()| another.wait()).unwrap();
    up.unwrap();
}

/// A path of a socket has 107 bytes at most, most of which may be the cache folder's.
#[test]
fn wires_of_a_mirror_have_paths_hardly_longer_than_that_of_its_own_socket() {
    let Some(Scratch { server, .. }) = &scratch("wires") else { return };
    let mirror = server.mirror(true);
    let own = super::Postgres::socket(&server.folder).as_os_str().len() + ".mirror".len();
    for wire in Mirror::wires(&mirror).unwrap() {
        assert!(wire[0].len() <= own + 1, "{} and {own}", wire[0]);
    }
}

#[test]
fn a_copy_brings_back_what_was_there_when_it_was_kept() {
    let Some(Scratch { server, .. }) = &scratch("copy") else { return };
    server.up(&set("work_mem", "5MB")).unwrap();
    session(&server.connect()).script("CREATE TABLE t AS SELECT 1").unwrap();
    assert!(matches!(server.restore("filled"), Err(DatabaseError::NoRestore { .. })));
    server.keep_copy("filled").unwrap();
    for _ in 0..2 {
        session(&server.connect()).script("INSERT INTO t VALUES (2)").unwrap();
        assert_eq!(count(server), 2);
        server.restore("filled").unwrap();
        assert_eq!(count(server), 1);
    }
    server.remove().unwrap();
    assert!(!server.folder().exists());
}

/// A server of an older version owned its whole folder, and could have put links in the place of our files.
#[test]
fn nothing_that_the_servers_user_put_in_its_folder_is_followed() {
    let Some(Scratch { server, folder }) = &scratch("links") else { return };
    if !rustix::process::geteuid().is_root() {
        return crate::tests::skip::skipped("only root starts servers as somebody else");
    }
    let owned = |name: &str| std::fs::symlink_metadata(server.folder().join(name)).unwrap().uid();
    server.up(&[]).unwrap();
    let user = owned("data");
    assert!(user != 0 && owned("run") == user);
    server.down().unwrap();
    let victim = folder.join("victim");
    std::fs::write(&victim, "mine\n").unwrap();
    let ours = ["server.conf", "log", "begun", "lock", "claim"];
    for name in ours {
        let path = server.folder().join(name);
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        std::os::unix::fs::lchown(&path, Some(user), Some(user)).unwrap();
    }
    std::os::unix::fs::chown(server.folder(), Some(user), Some(user)).unwrap();
    server.up(&set("work_mem", "5MB")).unwrap();
    let claim = server.claim("data").unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine\n");
    assert_eq!(std::fs::metadata(&victim).unwrap().uid(), 0);
    for name in ours {
        assert!(owned(name) == 0 && !server.folder().join(name).is_symlink(), "{name}");
    }
    drop(claim);
    // Nobody but root makes anything there any more.
    let data = std::fs::metadata(server.folder()).unwrap();
    assert_eq!((data.uid(), data.mode() & 0o777), (0, 0o711));
    server.keep_copy("filled").unwrap();
    assert_eq!(owned("copies"), 0);
    assert_eq!(owned("copies/filled"), user);
}

#[test]
fn a_setting_that_the_server_does_not_take_is_named() {
    let Some(Scratch { server, .. }) = &scratch("set") else { return };
    for (key, value) in [("colour", "red"), ("shared_buffers", "much")] {
        let refused = server.up(&set(key, value)).unwrap_err();
        assert!(matches!(&refused, DatabaseError::Setting { key: named, .. } if named == key), "{refused}");
    }
    server.up(&set("shared_buffers", "16MB")).unwrap();
}

#[test]
fn two_who_want_it_at_once_get_one_server() {
    let Some(Scratch { server, .. }) = &scratch("two") else { return };
    std::thread::scope(|scope| {
        let ups: Vec<_> = (0..2).map(|_| scope.spawn(|| server.up(&set("work_mem", "5MB")))).collect();
        ups.into_iter().for_each(|up| up.join().unwrap().unwrap());
    });
    assert_eq!(session(&server.connect()).query("SELECT 1").unwrap(), [[Value::Int(1)]]);
    assert_eq!(Server::known(server.folder().ancestors().nth(2).unwrap(), &Arc::default()).unwrap().len(), 1);
}

/// Within two seconds, and one more for a machine that does something else as well.
fn soon<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(3)).expect("it ends soon")
    })
}

/// In the place of the file with the server's number, which it reads before it serves: it waits there for ever.
fn pipe_in_the_way(server: &Server) {
    let pipe = server.data().join("postmaster.pid");
    let owner = std::fs::metadata(server.data()).unwrap();
    let _ = std::fs::remove_file(&pipe);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    std::os::unix::fs::chown(&pipe, Some(owner.uid()), Some(owner.gid())).unwrap();
}

#[test]
fn a_server_that_never_serves_is_ended_when_stopped_and_when_its_time_is_over() {
    let Some(mut scratch) = scratch("never") else { return };
    let server = &mut scratch.server;
    server.up(&[]).unwrap();
    server.down().unwrap();
    pipe_in_the_way(server);
    std::thread::scope(|scope| {
        let up = scope.spawn(|| server.up(&[]));
        while server.process().is_none() {
            assert!(!up.is_finished());
            std::thread::sleep(LOOK);
        }
        server.stop.store(true, Ordering::Relaxed);
        assert!(matches!(soon(|| up.join().unwrap()), Err(DatabaseError::Stopped)));
    });
    assert_eq!(server.process(), None);
    server.stop = Arc::default();
    let late = server.begin(1).unwrap_err().to_string();
    assert!(late.contains("did not serve within 1 s"), "{late}");
    assert_eq!(server.process(), None);
}

#[test]
fn the_wait_for_a_server_that_does_not_end_ends_when_stopped_and_with_the_server_when_its_time_is_over() {
    let Some(mut scratch) = scratch("stays") else { return };
    let server = &mut scratch.server;
    server.up(&[]).unwrap();
    send(server.pid().unwrap() as i32, Signal::STOP);
    server.stop.store(true, Ordering::Relaxed);
    let stopped = soon(|| server.down()).unwrap_err().to_string();
    assert!(stopped.contains("was told to end"), "{stopped}");
    let held = folder::hold(server.folder(), &server.stop).unwrap();
    assert!(matches!(server.down(), Err(DatabaseError::Stopped)), "whoever holds the folder may take long");
    drop(held);
    server.stop = Arc::default();
    assert_eq!(server.end_within(1).unwrap(), End::Killed(1));
    assert_eq!((server.process(), server.down().unwrap()), (None, End::Before));
    let words = all_down(vec![server.clone()], false).unwrap();
    assert!(words[0].starts_with("was not running:"), "{words:?}");
}
