//! A real server that follows another by a publication: what of it comes, what stays behind, and how far a commit has come.

use super::skip::skipped;
use crate::server::Mirror;
use crate::server::postgres::Server;
use crate::{Database, OpenOptions, Profiling, Session, open, server};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use study::{At, DatabaseSpec, Engine, Published, Waits};
use tempfile::TempDir;

/// The first server.
struct First {
    folder: TempDir,
    database: Box<dyn Database>,
}

impl Drop for First {
    fn drop(&mut self) {
        let _ = server::down(Engine::Postgres, self.folder.path(), &Arc::default(), true);
    }
}

fn settings() -> Vec<(String, String)> {
    vec![("wal_level".to_owned(), "logical".to_owned())]
}

fn opened(folder: &std::path::Path, settings: Vec<(String, String)>) -> Box<dyn Database> {
    let (stop, profiling) = (Arc::default(), Profiling::default());
    let options = OpenOptions { cache_dir: folder.to_owned(), dataset: None, settings, profiling, stop };
    open(&DatabaseSpec::new(Engine::Postgres, At::Local), &options).unwrap()
}

impl First {
    fn start() -> Option<First> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        if Server::find(folder.path(), "server", Arc::default()).is_err() {
            skipped("PostgreSQL is not installed");
            return None;
        }
        let database = opened(folder.path(), settings());
        let mut session = database.outside().unwrap();
        session.script("CREATE TABLE public.kept (id int PRIMARY KEY, n int)").unwrap();
        session.script("CREATE TABLE public.bare (n int)").unwrap();
        session.script("CREATE TABLE public.work_1 (id int PRIMARY KEY)").unwrap();
        session.script("INSERT INTO public.kept SELECT g, 0 FROM generate_series(1, 10) g").unwrap();
        session.script("INSERT INTO public.bare VALUES (1), (2)").unwrap();
        session.script("INSERT INTO public.work_1 VALUES (1)").unwrap();
        Some(First { folder, database })
    }

    fn mirror(&self, leave_out: &[&str]) -> Arc<dyn Mirror> {
        let leave_out = leave_out.iter().map(|pattern| (*pattern).to_owned()).collect();
        let spec = DatabaseSpec::new(Engine::Postgres, At::Local);
        let mirror = self.database.mirror(&DatabaseSpec { published: Some(Published { leave_out }), ..spec }).unwrap();
        for [near, far] in mirror.wires().unwrap() {
            let _ = std::fs::remove_file(&near);
            std::os::unix::fs::symlink(far, near).unwrap();
        }
        mirror
    }
}

fn one(session: &mut dyn Session, sql: &str) -> String {
    let value = session.one(sql).unwrap().unwrap();
    value.text().map_or_else(|| value.int().unwrap().to_string(), str::to_owned)
}

#[test]
fn rows_of_published_tables_follow_with_and_without_a_key_and_what_is_left_out_is_empty() {
    let Some(first) = First::start() else { return };
    let mirror = first.mirror(&["work_*"]);
    mirror.begin(Waits::Flushed, &settings(), None).unwrap();
    let mut near = first.database.outside().unwrap();
    near.script("UPDATE public.kept SET n = 5 WHERE id = 3").unwrap();
    near.script("UPDATE public.bare SET n = 7 WHERE n = 1").unwrap();
    near.script("INSERT INTO public.work_1 VALUES (2)").unwrap();
    let told = mirror.level().unwrap();
    for words in ["mirrors 2 tables and leaves out 1 (work_1)", "1 table without a key (bare)", "do not follow"] {
        assert!(told.contains(words), "{told}");
    }
    let mut far = mirror.reader().unwrap();
    assert_eq!(one(&mut *far, "SELECT sum(n)::bigint FROM public.kept"), "5");
    assert_eq!(one(&mut *far, "SELECT string_agg(n::text, ' ' ORDER BY n) FROM public.bare"), "2 7");
    assert_eq!(one(&mut *far, "SELECT count(*) FROM public.work_1"), "0");
    mirror.leave().unwrap();
    // The same tables are there still, and only what came since is brought.
    near.script("UPDATE public.kept SET n = 6 WHERE id = 3").unwrap();
    mirror.begin(Waits::Applied, &settings(), None).unwrap();
    assert_eq!(one(&mut *mirror.reader().unwrap(), "SELECT sum(n)::bigint FROM public.kept"), "6");
    mirror.leave().unwrap();
    let all = first.mirror(&[]);
    all.begin(Waits::Flushed, &settings(), None).unwrap();
    assert_eq!(one(&mut *all.reader().unwrap(), "SELECT count(*) FROM public.work_1"), "2", "others are copied anew");
    all.forget().unwrap();
    assert_eq!(
        one(&mut *near, "SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_publication)"),
        "0"
    );
}

#[test]
fn a_commit_waits_for_a_subscriber_that_cannot_apply_on_every_rung_that_waits_at_all() {
    let Some(first) = First::start() else { return };
    let mirror = first.mirror(&[]);
    for (waits, flushes) in [
        (Waits::Nothing, "off"),
        (Waits::Local, "off"),
        (Waits::Written, "off"),
        (Waits::Flushed, "on"),
        (Waits::Applied, "on"),
    ] {
        mirror.begin(waits, &settings(), None).unwrap();
        let mut far = mirror.reader().unwrap();
        assert_eq!(one(&mut *far, "SELECT subsynccommit FROM pg_subscription"), flushes, "{waits:?}");
        far.script("BEGIN").unwrap();
        far.script("LOCK public.kept").unwrap();
        let mut near = first.database.outside().unwrap();
        let commit = std::thread::spawn(move || near.script("UPDATE public.kept SET n = n + 1 WHERE id = 1"));
        let (mut watch, mut waited) = (mirror.watch(waits).unwrap(), false);
        while !waited && !commit.is_finished() {
            waited = watch.look().unwrap().waiting > 0;
        }
        assert_eq!(waited, waits.far(), "{waits:?}");
        far.script("ROLLBACK").unwrap();
        commit.join().unwrap().unwrap();
        mirror.level().unwrap();
        mirror.leave().unwrap();
    }
    mirror.forget().unwrap();
}
