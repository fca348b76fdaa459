//! A redacted copy holds nothing private in any byte, and is a run file like any other.

use crate::arbitrary::{plain_cell, plain_facts, plain_label, plain_rest, whole};
use observation::{Event, EventKind, Fact, Observations, RunFacts, Searched, StatePolicy, SystemFacts};
use std::path::PathBuf;
use store::{RunFile, StoreError, redact};
use tempfile::TempDir;
use units::Nanos;

const SECRETS: [&str; 8] = [
    "goldfinch",
    "/srv/acme",
    "S3EVNX0J7731",
    "/dev/nvme7n1",
    "hidden-folder",
    "/home/alice",
    "relative/place",
    "customer-x",
];

/// A run with something private in every place where a text can stand.
fn private_run() -> (TempDir, PathBuf) {
    let fact = |key: &str, value: &str, private| Fact { key: key.into(), value: value.into(), private };
    let all = SECRETS.join(" and ");
    let facts = RunFacts {
        title: format!("About {all}"),
        question: format!("Is {all} fast?"),
        study_text: "[system.a]\nkind = \"file\"\ndir = \"/srv/acme/secret lab\"\ndirs = [\"hidden-folder\"]\n".into(),
        targets: vec!["file:relative/place".into(), "/dev/nvme7n1".into()],
        settings: vec!["system.a.dir=hidden-folder".into(), "modules=2".into()],
        tags: vec![all.clone()],
        note: format!("measured on {all}"),
        systems: vec![
            SystemFacts {
                name: "goldfinch-a".into(),
                kind: "file".into(),
                place: "/srv/acme/secret lab".into(),
                fingerprint: vec![
                    fact("host.name", "goldfinch", true),
                    fact("disk.nvme7n1.serial", "S3EVNX0J7731", true),
                    fact("mount.source", "/dev/nvme7n1", false),
                    fact("kernel.release", "6.12.0", false),
                ],
                ..SystemFacts::default()
            },
            SystemFacts {
                name: "customer-x".into(),
                kind: "file".into(),
                place: "/mnt/customer-x".into(),
                ..SystemFacts::default()
            },
        ],
        ..plain_facts()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    let mut label = plain_label(0);
    label.system = "goldfinch-a".into();
    label.state = StatePolicy::read(&all);
    label.search = Some(Searched::read(all.clone()));
    let rest = Observations {
        endpoints: vec!["/srv/acme/secret lab/module-0".into()],
        events: vec![Event { at: Nanos(1), kind: EventKind::Failure, text: format!("write failed: {all}") }],
        ..plain_rest(3)
    };
    let mut file = RunFile::create(&path, &facts, 32 << 10).unwrap();
    file.begin_trial(&label, &rest).unwrap();
    file.append_interval(0, &[plain_cell(0), plain_cell(1), plain_cell(2)], &[]).unwrap();
    file.finish_trial(0, &rest).unwrap();
    file.set_finished().unwrap();
    file.close().unwrap();
    (dir, path)
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

#[test]
fn no_byte_of_a_redacted_copy_tells_a_host_a_path_or_a_serial_number() {
    let (dir, path) = private_run();
    let copy = dir.path().join("copy.prony");
    redact(&path, &copy).unwrap();
    let (before, after) = (std::fs::read(&path).unwrap(), std::fs::read(&copy).unwrap());
    for secret in SECRETS {
        assert!(holds(&before, secret), "the run does not hold `{secret}`, so the copy proves nothing");
        assert!(!holds(&after, secret), "the copy still holds `{secret}`");
    }
}

#[test]
fn a_redacted_copy_keeps_every_number_and_what_is_not_private() {
    let (dir, path) = private_run();
    let copy = dir.path().join("copy.prony");
    redact(&path, &copy).unwrap();
    let (original, copy) = (RunFile::open(&path).unwrap(), RunFile::open(&copy).unwrap());
    let (before, after) = (whole(&original, 0), whole(&copy, 0));
    assert_eq!(after.cells, before.cells);
    assert_eq!(after.accounts, before.accounts);
    assert_eq!(after.series, before.series);
    let facts = copy.facts().unwrap();
    let keys: Vec<_> = facts.systems[0].fingerprint.iter().map(|fact| fact.key.as_str()).collect();
    assert_eq!(keys, ["mount.source", "kernel.release"]);
    assert!(facts.settings[0].starts_with("system.a.dir=(private "), "{:?}", facts.settings);
    assert_eq!(facts.settings[1], "modules=2");
    assert_eq!(facts.systems[0].place, "(private)");
    assert_eq!(facts.systems[0].name, copy.trials().unwrap()[0].label.system, "the name still joins trial and system");
}

#[test]
fn a_host_with_the_name_of_one_of_our_words_does_not_break_the_copy() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("run.prony"), dir.path().join("copy.prony"));
    let mut facts = plain_facts();
    for word in ["work", "finished", "simulated", "phase", "target", "number", "word", "20"] {
        facts.systems[0].fingerprint.push(Fact { key: "host.name".into(), value: word.into(), private: true });
    }
    let mut file = RunFile::create(&path, &facts, 32 << 10).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(3)).unwrap();
    file.finish_trial(0, &plain_rest(3)).unwrap();
    file.close().unwrap();
    redact(&path, &copy).unwrap();
    let copy = RunFile::open(&copy).unwrap();
    assert_eq!(copy.observations(0).unwrap().accounts, plain_rest(3).accounts);
    assert_eq!(copy.facts().unwrap().seed, facts.seed);
}

#[test]
fn a_redacted_copy_never_replaces_a_file() {
    let (dir, path) = private_run();
    let copy = dir.path().join("copy.prony");
    std::fs::write(&copy, "precious").unwrap();
    assert!(matches!(redact(&path, &copy), Err(StoreError::Exists { .. })));
    assert_eq!(std::fs::read(&copy).unwrap(), b"precious");
}
