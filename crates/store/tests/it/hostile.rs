//! Files that somebody made or changed: an error that names the file, never a crash.

use crate::arbitrary::plain_run;
use observation::CellSource as _;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use store::{RunFile, StoreError, redact};

/// A file that somebody changed who took its checksums away first.
fn changed_by(sql: &str) -> (tempfile::TempDir, PathBuf) {
    const WITHOUT_SUMS: &str = "PRAGMA user_version = 1;";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    plain_run(&path);
    rusqlite::Connection::open(&path).unwrap().execute_batch(&format!("{WITHOUT_SUMS} {sql}")).unwrap();
    (dir, path)
}

/// Opens and reads all that can be read, as `prony show` would.
fn read_all(path: &Path) -> Result<(), StoreError> {
    let file = RunFile::open(path)?;
    file.facts()?;
    for trial in file.trials()? {
        file.observations(trial.label.index)?;
        file.cells(trial.label.index)?.each(&mut |_| ())?;
    }
    file.close()
}

fn message_after(sql: &str) -> String {
    let (_dir, path) = changed_by(sql);
    let error = read_all(&path).unwrap_err();
    error.to_string().replace(path.to_str().unwrap(), "run.prony")
}

#[test]
fn a_missing_file_a_foreign_file_and_a_foreign_database_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.prony");
    assert!(matches!(RunFile::open(&path), Err(StoreError::Unreachable { .. })));
    std::fs::write(&path, "this is a letter, and a rather long one at that, longer than a header").unwrap();
    assert!(matches!(RunFile::open(&path), Err(StoreError::NotARunFile { .. })));
    std::fs::write(&path, "").unwrap();
    assert!(matches!(RunFile::open(&path), Err(StoreError::NotARunFile { .. })));
    std::fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    assert!(matches!(RunFile::open(&path), Err(StoreError::NotARunFile { .. })));
}

#[test]
fn a_later_and_an_earlier_version_say_what_to_do() {
    assert_eq!(
        message_after("PRAGMA user_version = 99"),
        "`run.prony` has schema version 99, and this Prony reads versions up to 4; \
         open it with a Prony as new as the one that wrote it"
    );
    assert_eq!(
        message_after("PRAGMA user_version = 0"),
        "`run.prony` has schema version 0, and this Prony reads versions from 1 on; open it with the Prony that wrote it"
    );
}

#[test]
fn tables_that_are_not_ours_to_the_letter_are_refused() {
    let program = "DROP TABLE event; CREATE VIEW event AS
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n";
    assert!(message_after(program).contains("the table `event` is missing or changed"));
    assert!(message_after("DROP VIEW trial_summary").contains("the view `trial_summary` is missing or changed"));
    let trigger = "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM cell; END";
    assert!(message_after(trigger).contains("somebody added the trigger `t`"));
}

#[test]
fn more_rows_than_a_study_can_lead_to_are_refused() {
    let many = |n: u32, insert: &str| {
        message_after(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {n}) {insert}"
        ))
    };
    let systems =
        many(300, "INSERT INTO system (name, kind, place, driver, modules) SELECT 's' || i, 'file', '', '', 1 FROM n");
    assert!(systems.contains("at most 256 are read"), "{systems}");
    let factors = many(
        200,
        "INSERT INTO factor (trial, position, name, form, text) SELECT 1, i + 1000, 'f' || i, 'text', 'x' FROM n",
    );
    assert!(factors.contains("a trial of it has 20"), "{factors}");
}

/// SQLite goes by the text of an entry, and not by what the list of tables calls it.
#[test]
fn programs_under_any_name_are_refused_before_they_run() {
    const TRIGGER: &str = "CREATE TRIGGER %n AFTER UPDATE ON run BEGIN DELETE FROM cell; END";
    let (plain, hidden) = (TRIGGER.replace("%n", "t"), TRIGGER.replace("%n", "cell"));
    let renamed = |kind: &str| {
        format!("{plain}; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = '{kind}' WHERE name = 't'")
    };
    let spelt = plain.replace("CREATE TRIGGER", "cREATE/**/tRIGGER");
    let cases = [
        renamed("TRIGGER"),
        renamed("tRigger"),
        renamed("table"),
        renamed("index"),
        renamed("view"),
        renamed(""),
        hidden,
        format!(
            "{plain}; PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET type = 'table', sql = '{spelt}' WHERE name = 't'"
        ),
        "CREATE INDEX i ON run (hex(hex(hex(note))))".to_owned(),
        "CREATE INDEX i ON run (note) WHERE length(hex(note)) > 3".to_owned(),
        "CREATE VIRTUAL TABLE v USING fts5(a)".to_owned(),
    ];
    for sql in cases {
        let (_dir, path) = changed_by(&sql);
        for opened in [RunFile::open(&path), RunFile::glance(&path), RunFile::open_for_notes(&path)] {
            assert!(matches!(opened, Err(StoreError::Damaged(..))), "{sql}: {opened:?}");
        }
    }
}

#[test]
fn tables_and_views_that_somebody_added_do_no_harm() {
    let (_dir, path) = changed_by("CREATE TABLE mine (a); CREATE VIEW best AS SELECT max(done) FROM cell; ANALYZE");
    read_all(&path).unwrap();
    RunFile::open_for_notes(&path).unwrap().close().unwrap();
}

#[test]
fn an_index_that_somebody_added_for_speed_does_no_harm() {
    let (_dir, path) = changed_by("CREATE INDEX by_interval ON cell (interval)");
    read_all(&path).unwrap();
}

#[test]
fn values_that_no_run_can_have_are_damage() {
    let cases = [
        "UPDATE cell SET response = x'ffffffffffffffff'",
        "UPDATE cell SET done = -1",
        "UPDATE cell SET interval = 4294967296",
        "UPDATE trial SET state = 'sleeping'",
        "UPDATE trial SET provenance = 'dreamt'",
        "UPDATE trial SET generators = 70000",
        "UPDATE event SET kind = 'party'",
        "UPDATE class SET kind = 'play'",
        "UPDATE factor SET form = 'tree'",
        "UPDATE account SET service_ns = 'many'",
        "DELETE FROM series",
        "UPDATE trial SET id = id + 4294967296",
        "UPDATE trial SET window_end_ns = 9000000000000000000, interval_ns = 1",
        "UPDATE trial SET window_start_ns = 4000000000 * interval_ns",
        "UPDATE trial SET window_end_ns = -1",
        "UPDATE trial SET interval_ns = 0",
        "UPDATE trial SET window_end_ns = 1000000 * interval_ns; INSERT INTO stream SELECT trial, 100 + interval, '', '', '',
         1, 0, 1 FROM cell UNION SELECT trial, 200 + interval, '', '', '', 1, 0, 1 FROM cell",
        "UPDATE trial SET interval_ns = 9223372036854775807",
        "UPDATE trial SET window_start_ns = 0, window_end_ns = 10000000000000000, interval_ns = 9000000000000000",
        "UPDATE trial SET validated_reads = -1",
        "UPDATE account SET failed = -1",
        "UPDATE account SET planned = 9223372036854775807",
        "UPDATE account SET slots_ns = '340282366920938463463374607431768211455'",
        "UPDATE cell SET bytes = 9223372036854775807",
        "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 30000)
         INSERT INTO stream SELECT 1, x, '', '', '', 1, 0, 1 FROM n",
        "UPDATE stream SET name = hex(zeroblob(40000))",
        "UPDATE run SET title = hex(zeroblob(30000000))",
        "UPDATE run SET note = hex(zeroblob(5000000))",
        "UPDATE event SET text = hex(zeroblob(5000000))",
        "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 300)
         INSERT INTO endpoint SELECT 1, x, hex(zeroblob(20000)) FROM n",
        "DELETE FROM run",
    ];
    for sql in cases {
        assert!(message_after(sql).starts_with("`run.prony` is damaged: "), "{sql}: {}", message_after(sql));
    }
}

fn sample() -> &'static [u8] {
    static SAMPLE: OnceLock<Vec<u8>> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.prony");
        plain_run(&path);
        std::fs::read(path).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_change_of_bytes_makes_the_reader_crash(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..30),
        keep in 0.2f64..2.0,
    ) {
        let mut bytes = sample().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate((bytes.len() as f64 * keep) as usize);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.prony");
        std::fs::write(&path, bytes).unwrap();
        let _ = read_all(&path);
        let _ = redact(&path, &dir.path().join("copy.prony"));
        if let Ok(file) = RunFile::resume(&path, 4096) {
            let _ = file.close();
        }
        let _ = RunFile::glance(&path).and_then(RunFile::close);
    }
}
