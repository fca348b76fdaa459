//! A redacted copy holds nothing private in any byte, and is a run file like any other.

use crate::arbitrary::{plain_cell, plain_facts, plain_label, plain_rest, whole};
use observation::{Check, Event, EventKind, Fact, Mishap, Observations, RunFacts, Searched, StatePolicy, SystemFacts};
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
        mishaps: vec![Mishap {
            stream: 0,
            kind: EventKind::Failure,
            what: format!("cannot write: {all}"),
            count: 1,
            first: all.clone(),
        }],
        checks: vec![Check { found: all.clone(), says: all.clone(), ..Check::default() }],
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

/// What servers and people say of others, in every text field.
#[test]
fn no_byte_of_a_redacted_copy_tells_a_user_a_host_or_an_address() {
    const NAMED: [&str; 6] = ["wombat", "alicia", "ledgerbook", "vault.acme.example", "10.77.3.4", "fe80::77:4"];
    const SAID: [&str; 5] = ["zebedee", "quokka", "otter.acme.com", "203.0.113.7", "mandrake"];
    let sentence = "authentication failed for user \"zebedee\" at \"quokka\" (203.0.113.7), see otter.acme.com:6543, \
                    'mandrake'@'%', alicia@wombat:5432/ledgerbook, vault.acme.example, 10.77.3.4 and fe80::77:4";
    let anywhere =
        "alicia on wombat and vault.acme.example has ledgerbook at 10.77.3.4, fe80::77:4, mandrake@203.0.113.7";
    let facts = RunFacts {
        title: sentence.into(),
        question: sentence.into(),
        note: sentence.into(),
        study_text: format!(
            "# {anywhere}\ntitle = \"{anywhere}\"\n[system.a]\nurl = \"postgres://alicia@wombat:5432/ledgerbook\"\n"
        ),
        targets: vec![
            "b=mysql://alicia@vault.acme.example/ledgerbook".into(),
            "postgres://[fe80::77:4]/ledgerbook".into(),
        ],
        settings: vec!["system.a.url=postgres://alicia@10.77.3.4/ledgerbook".into(), "modules=2".into()],
        tags: vec![anywhere.into()],
        systems: vec![SystemFacts {
            name: "wombat".into(),
            kind: "postgres".into(),
            place: "wombat:5432".into(),
            driver: anywhere.into(),
            fingerprint: vec![Fact { key: "server.listens".into(), value: sentence.into(), private: false }],
            ..SystemFacts::default()
        }],
        ..plain_facts()
    };
    let mut label = plain_label(0);
    (label.system, label.experiment) = ("wombat".into(), anywhere.into());
    (label.state, label.search) = (StatePolicy::read(anywhere), Some(Searched::read(anywhere.into())));
    label.streams[0].name = anywhere.into();
    let rest = Observations {
        endpoints: vec![anywhere.into()],
        events: vec![Event { at: Nanos(1), kind: EventKind::Failure, text: sentence.into() }],
        ..plain_rest(3)
    };
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("run.prony"), dir.path().join("copy.prony"));
    let mut file = RunFile::create(&path, &facts, 32 << 10).unwrap();
    file.begin_trial(&label, &rest).unwrap();
    file.finish_trial(0, &rest).unwrap();
    file.close().unwrap();
    redact(&path, &copy).unwrap();
    let (before, after) = (std::fs::read(&path).unwrap(), std::fs::read(&copy).unwrap());
    for secret in NAMED.into_iter().chain(SAID) {
        assert!(holds(&before, secret), "the run does not hold `{secret}`, so the copy proves nothing");
        assert!(!holds(&after, secret), "the copy still holds `{secret}`");
    }
    let copy = RunFile::open(&copy).unwrap();
    assert_eq!(copy.facts().unwrap().systems[0].name, copy.trials().unwrap()[0].label.system);
    assert!(copy.facts().unwrap().study_text.contains("[system.a]\nurl = \"postgres://private-"));
}

/// A user or a database may be called as a part of the study is, which must still be read.
#[test]
fn a_study_keeps_its_words_when_a_user_is_called_like_one() {
    let text = "[system.a]\nkind = \"postgres\"\nurl = \"postgres://stream@postgres/brokerage\"\n\
                [stream.x]\nworkload = \"brokerage\"\n";
    let mut facts = RunFacts { study_text: text.into(), note: "stream lost brokerage".into(), ..plain_facts() };
    facts.systems.clear();
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("run.prony"), dir.path().join("copy.prony"));
    RunFile::create(&path, &facts, 4096).unwrap().close().unwrap();
    redact(&path, &copy).unwrap();
    let after = RunFile::open(&copy).unwrap().facts().unwrap();
    let (before, behind) = text.split_once("postgres://stream@postgres/brokerage").unwrap();
    assert!(after.study_text.starts_with(before) && after.study_text.ends_with(behind), "{}", after.study_text);
    assert!(!after.note.contains("stream") && !after.note.contains("brokerage"), "{}", after.note);
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
