//! Layouts on real private servers: every object lies where the layout says, also after a restore, and what is not ours stays.

use super::across::holds;
use super::skip::skipped;
use crate::dataset::{DataSet, Filled, fill, use_up};
use crate::{Database, DatabaseError, OpenOptions, Profiling, open, server};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{At, DatabaseSpec, Engine, Folder, Layout, Tier, TierFolder};
use tempfile::TempDir;
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};
use workload::transaction::Value;

/// A cache and two tiers of one test.
struct Place {
    folder: TempDir,
    engine: Engine,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = server::down(self.engine, &self.path("cache"), &Arc::default(), true);
    }
}

impl Place {
    fn new(engine: Engine) -> Place {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "cache", "slow", "fast"] {
            let path = folder.path().join(name);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Place { folder, engine }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn layout(&self, name: &str, tiers: [Tier; 5], fast: &[&str]) -> Layout {
        let tier = |name: &str| {
            let reached = self.path(name).display().to_string();
            Some(TierFolder { folder: Folder::plain(&reached), reached })
        };
        let [data, indexes, log, undo, temporary] = tiers;
        let objects = fast.iter().map(|name| ((*name).to_owned(), Tier::Fast)).collect();
        let (slow, fast) = (tier("slow"), tier("fast"));
        Layout {
            name: name.to_owned(),
            data,
            indexes,
            log,
            undo,
            temporary,
            objects,
            moving: None,
            passing: false,
            slow: slow.map(Box::new),
            fast: fast.map(Box::new),
        }
    }

    fn try_open(&self, layout: &Layout, dataset: &DataSet) -> Result<Box<dyn Database>, DatabaseError> {
        let at = if self.engine == Engine::Sqlite { At::Cache } else { At::Local };
        let spec = DatabaseSpec { layout: Some(layout.clone()), ..DatabaseSpec::new(self.engine, at) };
        let options = OpenOptions {
            cache_dir: self.path("cache"),
            dataset: Some(dataset.clone()),
            settings: Vec::new(),
            profiling: Profiling::default(),
            stop: Arc::default(),
        };
        open(&spec, &options)
    }

    /// None where the server is not installed.
    fn open(&self, layout: &Layout, dataset: &DataSet) -> Option<Box<dyn Database>> {
        match self.try_open(layout, dataset) {
            Ok(database) => Some(database),
            Err(missing @ DatabaseError::MissingPackage { .. }) => {
                skipped(&missing.to_string());
                None
            }
            Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
        }
    }
}

const ALL: [Tier; 5] = [Tier::Slow; 5];

fn house() -> DataSet {
    seeded(Scale { preset: Preset::Desk, customers: 100, days: 2 }, 5)
}

fn filled(database: &dyn Database, dataset: &DataSet, copy: bool) -> Filled {
    let done = fill(database, dataset, copy, &|_| {}, &AtomicBool::new(false));
    done.unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)))
}

fn texts(database: &dyn Database, sql: &str) -> Vec<Vec<String>> {
    let mut session = database.outside().unwrap();
    let rows = session.query(sql).unwrap_or_else(|failure| panic!("{failure:?}"));
    let text = |value: &Value| value.text().map_or_else(|| format!("{value:?}"), str::to_owned);
    rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

/// Where each table and index of a data set has its file, by name.
fn postgres_files(database: &dyn Database, schema: &str) -> BTreeMap<String, PathBuf> {
    let sql = format!(
        "SELECT c.relname, current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{schema}' AND c.relkind IN ('r', 'i')"
    );
    let rows = texts(database, &sql);
    rows.into_iter().map(|row| (row[0].clone(), fs::canonicalize(&row[1]).expect("a file"))).collect()
}

fn below(path: &Path, tier: &Path) -> bool {
    path.starts_with(tier.canonicalize().unwrap())
}

#[test]
fn postgres_lays_tables_indexes_log_and_temporary_files_out_and_brings_them_back_so() {
    let (place, dataset) = (Place::new(Engine::Postgres), house());
    let (slow, fast) = (place.path("slow"), place.path("fast"));
    let tiers = [Tier::Slow, Tier::Fast, Tier::Fast, Tier::Slow, Tier::Fast];
    let layout = place.layout("mine", tiers, &["trade"]);
    let Some(database) = place.open(&layout, &dataset) else { return };
    assert_eq!(filled(&*database, &dataset, true), Filled::Copied);
    let looked = |why: &str| {
        let files = postgres_files(&*database, &dataset.schema());
        assert!(files.len() > 20, "{why}: {files:?}");
        for (name, path) in &files {
            let index = !dataset.tables().iter().any(|table| table.name == *name) && name != "prony_dataset";
            let tier = if index || name == "trade" { &fast } else { &slow };
            assert!(below(path, tier), "{why}: {name} at {}", path.display());
        }
        let data = PathBuf::from(&texts(&*database, "SELECT current_setting('data_directory')")[0][0]);
        assert!(below(&data.canonicalize().unwrap(), &slow), "{why}");
        let wal = fs::canonicalize(data.join("pg_wal")).unwrap();
        assert!(below(&wal, &fast) && fs::read_dir(&wal).unwrap().count() > 0, "{why}: {}", wal.display());
        assert_eq!(texts(&*database, "SHOW temp_tablespaces"), [["fast"]], "{why}");
        holds(
            &mut *database.session(&crate::Texts::none(Engine::Postgres), &Default::default()).unwrap(),
            Engine::Postgres,
            &dataset,
        );
    };
    looked("filled");
    let schema = dataset.schema();
    let change = format!("TRUNCATE {schema}.trade CASCADE;ALTER TABLE {schema}.trade SET TABLESPACE pg_default");
    for sql in change.split(';') {
        database.outside().unwrap().script(sql).unwrap();
    }
    use_up(&*database, &dataset).unwrap();
    assert_eq!(filled(&*database, &dataset, true), Filled::Restored);
    looked("restored");
    // What was cut off while it was brought back is gone on with, whatever stands there.
    let server = database.private().unwrap().folder().to_owned();
    database.private().unwrap().end().unwrap();
    fs::remove_dir_all(server.join("fast").read_dir().unwrap().next().unwrap().unwrap().path().join("log")).unwrap();
    fs::write(server.join("restoring"), dataset.name()).unwrap();
    drop(place.open(&layout, &dataset));
    looked("restored by the next start");
}

#[test]
fn mariadb_lays_tables_both_logs_and_temporary_files_out_and_brings_them_back_so() {
    let (place, dataset) = (Place::new(Engine::Mariadb), house());
    let (slow, fast) = (place.path("slow"), place.path("fast"));
    let tiers = [Tier::Slow, Tier::Slow, Tier::Fast, Tier::Fast, Tier::Fast];
    let layout = place.layout("mine", tiers, &["trade"]);
    let Some(database) = place.open(&layout, &dataset) else { return };
    assert_eq!(filled(&*database, &dataset, true), Filled::Copied);
    let looked = |why: &str| {
        let ask = |name: &str| PathBuf::from(&texts(&*database, &format!("SELECT @@{name}"))[0][0]);
        assert!(below(&ask("datadir").canonicalize().unwrap(), &slow), "{why}");
        for (variable, file) in
            [("innodb_log_group_home_dir", "ib_logfile0"), ("innodb_undo_directory", "undo001"), ("tmpdir", "ibtmp1")]
        {
            let path = ask(variable).join(file).canonicalize().unwrap_or_else(|error| panic!("{why}: {file}: {error}"));
            assert!(below(&path, &fast), "{why}: {}", path.display());
        }
        let schema = ask("datadir").join(dataset.schema());
        let trade = fs::read_to_string(schema.join("trade.isl")).unwrap();
        assert!(below(&PathBuf::from(&trade).canonicalize().unwrap(), &fast), "{why}: {trade}");
        assert!(!schema.join("trade.ibd").exists() && schema.join("customer.ibd").exists(), "{why}");
        let told = texts(&*database, &format!("SHOW CREATE TABLE {}.trade", dataset.schema()));
        assert!(told[0][1].contains("DATA DIRECTORY"), "{why}: {told:?}");
        holds(
            &mut *database.session(&crate::Texts::none(Engine::Mariadb), &Default::default()).unwrap(),
            Engine::Mariadb,
            &dataset,
        );
    };
    looked("filled");
    let change = format!("SET foreign_key_checks = 0; DELETE FROM {}.trade", dataset.schema());
    let mut session = database.outside().unwrap();
    change.split(';').for_each(|sql| session.script(sql).unwrap());
    drop(session);
    use_up(&*database, &dataset).unwrap();
    assert_eq!(filled(&*database, &dataset, true), Filled::Restored);
    looked("restored");
}

#[test]
fn layouts_are_copied_from_one_fill_and_leave_nothing_behind_when_they_are_removed() {
    let (place, dataset) = (Place::new(Engine::Postgres), house());
    let Some(slow) = place.open(&place.layout("all-slow", ALL, &[]), &dataset) else { return };
    let Some(fast) = place.open(&place.layout("all-fast", [Tier::Fast; 5], &[]), &dataset) else { return };
    assert_eq!(filled(&*slow, &dataset, false), Filled::Copied);
    // Transactions of one layout are none of the other's.
    slow.outside().unwrap().script(&format!("TRUNCATE {}.trade CASCADE", dataset.schema())).unwrap();
    use_up(&*slow, &dataset).unwrap();
    assert_eq!(filled(&*fast, &dataset, false), Filled::Copied);
    holds(
        &mut *fast.session(&crate::Texts::none(Engine::Postgres), &Default::default()).unwrap(),
        Engine::Postgres,
        &dataset,
    );
    assert!(matches!(filled(&*slow, &dataset, false), Filled::Reused { .. }));
    // Back to the fill, without a copy of its own.
    assert_eq!(filled(&*slow, &dataset, true), Filled::Copied);
    holds(
        &mut *slow.session(&crate::Texts::none(Engine::Postgres), &Default::default()).unwrap(),
        Engine::Postgres,
        &dataset,
    );
    // A folder that only we may enter is ours to open for the server's user.
    fs::set_permissions(place.path("fast"), fs::Permissions::from_mode(0o700)).unwrap();
    let indexes_fast = [Tier::Slow, Tier::Fast, Tier::Slow, Tier::Slow, Tier::Slow];
    assert!(place.open(&place.layout("indexes-fast", indexes_fast, &[]), &dataset).is_some());
    fs::create_dir(place.path("fast/theirs")).unwrap();
    let log_fast = [Tier::Slow, Tier::Slow, Tier::Fast, Tier::Slow, Tier::Slow];
    let refused = place.try_open(&place.layout("log-fast", log_fast, &[]), &dataset).err().unwrap().to_string();
    assert!(refused.contains("theirs exists and was not made by Prony"), "{refused}");
    server::down(Engine::Postgres, &place.path("cache"), &Arc::default(), true).unwrap();
    let left = |name: &str| {
        let names =
            fs::read_dir(place.path(name)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    assert_eq!((left("slow"), left("fast")), (Vec::new(), vec!["theirs".to_owned()]));
}

#[test]
fn sqlite_lies_on_the_tier_of_its_layout_with_its_copy() {
    let (place, dataset) = (Place::new(Engine::Sqlite), house());
    for (tiers, tier, other) in [(ALL, "slow", "fast"), ([Tier::Fast; 5], "fast", "slow")] {
        let layout = place.layout("all", tiers, &[]);
        let Some(database) = place.open(&layout, &dataset) else { return };
        assert!(matches!(filled(&*database, &dataset, true), Filled::Anew { .. }));
        let file = &database.data_files()[0];
        assert!(below(&file.canonicalize().unwrap(), &place.path(tier)), "{}", file.display());
        assert!(fs::read_dir(place.path(other)).unwrap().flatten().all(|entry| !file.starts_with(entry.path())));
        use_up(&*database, &dataset).unwrap();
        assert_eq!(filled(&*database, &dataset, true), Filled::Restored);
        assert_eq!(fs::read_dir(place.path("cache")).unwrap().count(), 0, "nothing lies elsewhere");
    }
    fs::create_dir(place.path("slow/theirs")).unwrap();
    assert!(matches!(place.try_open(&place.layout("all", ALL, &[]), &dataset), Err(DatabaseError::NotOurs { .. })));
}
