//! Records of pairs: every state and action comes back, and the form of each version stays readable.

use super::*;

fn all() -> PairRecord {
    let behind = Behind { since: Nanos(1_795_000_000_000_000_000), bytes: 4096, objects: Some(2) };
    let states = [
        State::Replicating,
        State::Tracking(Reason::LinkCut, behind),
        State::Resynchronising(behind),
        State::Comparing,
        State::CopyNeeded(Reason::TakenOver),
        State::Copying,
        State::Swapping,
        State::Unserved(None),
        State::Unserved(Some(Behind { objects: None, ..behind })),
        State::Diverged,
        State::Tracking(Reason::Asked, behind),
        State::CopyNeeded(Reason::MirrorLost),
        State::CopyNeeded(Reason::ListLost),
    ];
    let life = Life { before: Some(states[1]), ..Life::new(Rule { waits: true, both_write: false, by_session: true }) };
    let pending = ACTIONS.map(|(action, _)| action).into_iter().chain([
        Action::Wait(true),
        Action::Writes(Node::B, false),
        Action::Promote(Node::A),
        Action::Rewind(Node::B),
    ]);
    let record = PairRecord {
        kind: "postgres-pair".to_owned(),
        sync: "on".to_owned(),
        list_bytes: 4 << 30,
        cores: Some([0.5, 1.0]),
        via: Some("/dir/link".to_owned()),
        devices: Some(["emulated:disk-15k:/a".to_owned(), "/b".to_owned()]),
        left_out: Vec::new(),
        added: Vec::new(),
        lacks: Vec::new(),
        alone: Vec::new(),
        sent: (0, 0),
        voter: "none".to_owned(),
        ports: Vec::new(),
        lacks_from: (0, 0),
        life,
        pending: pending.collect(),
        waits: true,
        follows: false,
        writes: [true, false],
        returns: [false, true],
        down: true,
        made: true,
        looked: Some((behind.since, 1 << 40)),
        checked: None,
    };
    for state in states {
        let life = Life { state, up: [false, true], primary: Node::B, ..record.life.clone() };
        let one = PairRecord { life, cores: None, via: None, devices: None, made: false, ..record.clone() };
        assert_eq!(super::record(&form(&one)), Some(one));
    }
    let pairs = |reason: &str| vec![("public.*".to_owned(), reason.to_owned())];
    let (left_out, added, lacks) = (pairs("why"), vec!["public.t".to_owned()], vec![("db: t".to_owned(), 7)]);
    let alone = vec![("db: u".to_owned(), "why".to_owned(), true)];
    let rows = PairRecord { left_out, added, lacks, alone, sent: (3, 4), ..record.clone() };
    assert_eq!(super::record(&form(&rows)), Some(rows), "what only pairs have that are mirrored by rows");
    let (voter, ports) = ("garbd".to_owned(), vec![4000, 4001]);
    let joined = PairRecord { voter, ports, lacks_from: (7, 4096), ..record.clone() };
    assert_eq!(super::record(&form(&joined)), Some(joined), "what only pairs have that Galera joins");
    let differing = |name: &str, rows| Differing { database: "db".to_owned(), table: name.to_owned(), rows };
    let differ = vec![differing("t", [Some(3), Some(4)]), differing("u", [None, Some(1)])];
    for differ in [differ, Vec::new()] {
        let checked = Checked { at: behind.since, tables: 5, in_step: true, differ };
        let checked = PairRecord { checked: Some(checked), ..record.clone() };
        assert_eq!(super::record(&form(&checked)), Some(checked), "what was found when both were compared");
    }
    record
}

#[test]
fn every_state_and_every_action_comes_back_from_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, record) = (folder.path().join("pair.json"), all());
    write_pair(&path, &record).expect("written");
    assert_eq!(read_pair(&path).expect("read"), record);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pair-1.json");
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::copy(&path, golden).expect("the golden file can be written");
    }
    assert_eq!(read_pair(Path::new(golden)).expect("the golden file is read"), record);
}

#[test]
fn what_is_no_record_or_a_later_one_is_told_as_that() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pair.json");
    let said = |text: &str| {
        std::fs::write(&path, text).expect("written");
        read_pair(&path).expect_err("it is none").to_string()
    };
    assert!(said("{}").contains("no record"));
    assert!(said("{\"form\": \"prony-pair/9\"}").contains("prony-pair/9"));
    assert!(said("{\"form\": \"prony-pair/1\"}").contains("damaged"));
    assert!(!said("[").is_empty());
}

#[test]
fn the_pair_that_was_brought_up_last_stands_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (Path::new("/one"), Path::new("/two"));
    for (pair, there) in [(one, true), (two, true), (one, true)] {
        know_pair(folder.path(), pair, there).expect("written");
    }
    assert_eq!(known_pairs(folder.path()), [two, one]);
    know_pair(folder.path(), two, false).expect("written");
    assert_eq!(known_pairs(folder.path()), [one]);
}
