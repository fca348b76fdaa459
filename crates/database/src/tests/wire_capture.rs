//! What is heard of messages made by hand.

use super::*;

/// A message of PostgreSQL.
fn said(letter: u8, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    [&[letter][..], &(body.len() as u32 + 4).to_be_bytes(), &body].concat()
}

fn startup() -> Vec<u8> {
    let body = b"user\0me\0\0";
    [&(8 + body.len() as u32).to_be_bytes()[..], &196_608_u32.to_be_bytes(), body].concat()
}

fn asks_to_seal() -> Vec<u8> {
    [8_u32.to_be_bytes(), 80_877_103_u32.to_be_bytes()].concat()
}

fn ready() -> Vec<u8> {
    said(b'Z', &[b"I"])
}

/// What is heard of a connection whose pieces come a millisecond apart, cut into pieces of so many bytes.
fn heard(engine: Engine, all: &[(bool, Vec<u8>)], cut: usize) -> Captured {
    let ear = Passing::new(engine, None);
    hears(&ear, all, cut);
    ear.end("here:1", Nanos::from_micros(1_000_000))
}

fn hears(ear: &Passing, all: &[(bool, Vec<u8>)], cut: usize) {
    for (at, (from_client, bytes)) in all.iter().enumerate() {
        for piece in bytes.chunks(cut) {
            ear.hear(7, *from_client, Nanos::from_micros(1_000 * at as u64), piece);
        }
    }
}

#[test]
fn statements_of_a_database_that_is_not_wanted_are_left_out_on_the_wire_too() {
    let begins = |body: &[u8]| [&(8 + body.len() as u32).to_be_bytes()[..], &196_608_u32.to_be_bytes(), body].concat();
    let packet = |number: u8, body: &[u8]| [&(body.len() as u32).to_le_bytes()[..3], &[number], body].concat();
    let login = packet(1, &[&0x20_8008_u32.to_le_bytes()[..], &[0; 28], b"me\0\x02ab", b"shop\0rest\0"].concat());
    let asks = || (true, said(b'Q', &[b"SELECT 1\0"]));
    let greets = || (false, packet(0, b"\x0a11.4.1-MariaDB\0rest"));
    let maria = |more: &[u8]| {
        vec![greets(), (true, login.clone()), (true, packet(0, more)), (true, packet(0, b"\x03SELECT 1"))]
    };
    for (engine, all, here) in [
        (Engine::Postgres, vec![(true, begins(b"user\0shop\0\0")), asks()], 1),
        (Engine::Postgres, vec![(true, begins(b"user\0me\0database\0shop\0\0")), asks()], 1),
        (Engine::Postgres, vec![(true, begins(b"database\0bank\0user\0shop\0\0")), asks()], 0),
        (Engine::Mariadb, maria(b"\x0e"), 1),
        (Engine::Mariadb, maria(b"\x02bank"), 0),
        (Engine::Mariadb, maria(b"\x03USE `bank`;"), 0),
    ] {
        let ear = Passing::new(engine, Some("shop".to_owned()));
        hears(&ear, &all, 1000);
        let captured = ear.end("here:1", Nanos::from_micros(1_000_000));
        assert_eq!(captured.trace.heard.len(), here, "{captured:?}");
        assert_eq!(captured.left_out.contains_key("it is of another database of the server"), here == 0);
    }
}

type Line = (u64, Option<u64>, String, Option<Vec<Option<String>>>);

fn lines(captured: &Captured) -> Vec<Line> {
    let line = |one: &workload::replay::Heard| {
        (one.at.0 / 1_000_000, one.took.map(|took| took.0 / 1_000_000), one.sql.clone(), one.parameters.clone())
    };
    captured.trace.heard.iter().map(line).collect()
}

fn simple_and_extended() -> Vec<(bool, Vec<u8>)> {
    let parse = said(b'P', &[b"s\0", b"UPDATE t SET a = $1 WHERE b = $2\0", &[0, 2], &[0, 0, 0, 23], &[0, 0, 0, 0]]);
    let values: [&[u8]; 6] =
        [&[0, 2, 0, 1, 0, 0], &[0, 2], &[0, 0, 0, 4], &(-5_i32).to_be_bytes(), &[0, 0, 0, 1], b"x"];
    let bind = said(b'B', &[b"\0s\0", &values.concat(), &[0, 0]]);
    let execute = said(b'E', &[b"\0", &[0, 0, 0, 0]]);
    vec![
        (true, startup()),
        (false, [said(b'R', &[&[0, 0, 0, 3]]), said(b'S', &[b"server_version\x0015.4\0"])].concat()),
        (true, said(b'p', &[b"secret\0"])),
        (false, [said(b'R', &[&[0, 0, 0, 0]]), ready()].concat()),
        (true, said(b'Q', &[b"SELECT 1\0"])),
        (false, [said(b'C', &[b"SELECT 1\0"]), ready()].concat()),
        (true, [parse, bind.clone(), execute.clone(), said(b'S', &[])].concat()),
        (false, [said(b'1', &[]), said(b'2', &[]), said(b'C', &[b"UPDATE 1\0"])].concat()),
        (false, ready()),
        (true, [bind, execute, said(b'S', &[])].concat()),
        (false, [said(b'2', &[]), said(b'C', &[b"UPDATE 1\0"]), ready()].concat()),
        (true, said(b'Q', &[b"SELECT 2\0"])),
    ]
}

#[test]
fn statements_are_heard_with_their_times_and_values_however_the_bytes_are_cut_and_passwords_are_not() {
    let values = || Some(vec![Some("-5".to_owned()), Some("x".to_owned())]);
    let update = || "UPDATE t SET a = $1 WHERE b = $2".to_owned();
    for cut in [1, 3, 7, 1000] {
        let captured = heard(Engine::Postgres, &simple_and_extended(), cut);
        let wanted = [
            (4, Some(1), "SELECT 1".to_owned(), None),
            (6, Some(1), update(), values()),
            (9, Some(1), update(), values()),
            (11, None, "SELECT 2".to_owned(), None),
        ];
        assert_eq!(lines(&captured), wanted, "cut into {cut}");
        assert_eq!(captured.trace.server, "PostgreSQL 15.4");
        assert!(!format!("{captured:?}").contains("secret"));
    }
}

#[test]
fn values_of_types_that_nobody_told_are_left_out_with_their_statement() {
    let parse = said(b'P', &[b"\0", b"SELECT $1\0", &[0, 0]]);
    let bind = said(b'B', &[b"\0\0", &[0, 1, 0, 1, 0, 1], &[0, 0, 0, 2, 9, 9], &[0, 0]]);
    let execute = said(b'E', &[b"\0", &[0, 0, 0, 0]]);
    let all = [(true, startup()), (false, ready()), (true, [parse, bind, execute].concat())];
    let captured = heard(Engine::Postgres, &all, 1000);
    assert!(captured.trace.heard.is_empty());
    assert_eq!(captured.left_out.get("its values are not written down"), Some(&1));
}

/// The texts that were heard, and how many were left out because they failed.
fn kept(captured: &Captured) -> (Vec<&str>, Option<&u64>) {
    let texts = captured.trace.heard.iter().map(|one| one.sql.as_str()).collect();
    (texts, captured.left_out.get("it failed on the server"))
}

#[test]
fn what_a_postgres_refused_is_left_out_and_its_transaction_ends_as_it_did() {
    let asks = |sql: &str| (true, said(b'Q', &[sql.as_bytes(), b"\0"]));
    let done = || (false, [said(b'C', &[b"DONE\0"]), ready()].concat());
    let refused = || (false, [said(b'E', &[b"SERROR\0\0"]), ready()].concat());
    let group = |sql: &str| {
        [
            said(b'P', &[b"\0", sql.as_bytes(), b"\0\0\0"]),
            said(b'B', &[b"\0\0", &[0; 6]]),
            said(b'E', &[b"\0", &[0; 4]]),
        ]
        .concat()
    };
    let all = vec![
        (true, startup()),
        (false, [said(b'S', &[b"server_version\x0015.4\0"]), ready()].concat()),
        asks("BEGIN"),
        done(),
        asks("UPDATE a"),
        done(),
        asks("UPDATE b"),
        refused(),
        asks("UPDATE c"),
        refused(),
        asks("COMMIT"),
        done(),
        asks("BEGIN"),
        done(),
        asks("UPDATE d"),
        refused(),
        asks("ROLLBACK TO s"),
        done(),
        asks("COMMIT;"),
        done(),
        // A commit itself may be refused.
        asks("BEGIN"),
        done(),
        asks("COMMIT"),
        refused(),
        (true, [group("SELECT e"), group("SELECT f"), group("SELECT g"), said(b'S', &[])].concat()),
        (false, [said(b'C', &[b"SELECT 1\0"]), said(b'E', &[b"SERROR\0\0"]), ready()].concat()),
        asks("SELECT h"),
        done(),
    ];
    for cut in [1, 1000] {
        let captured = heard(Engine::Postgres, &all, cut);
        let texts = [
            "BEGIN",
            "UPDATE a",
            "ROLLBACK",
            "BEGIN",
            "ROLLBACK TO s",
            "COMMIT;",
            "BEGIN",
            "ROLLBACK",
            "SELECT e",
            "SELECT h",
        ];
        assert_eq!(kept(&captured), (texts.to_vec(), Some(&5)), "{captured:?}");
    }
}

#[test]
fn what_a_mariadb_refused_is_left_out_and_a_deadlock_ends_its_transaction() {
    let packet = |number: u8, body: &[u8]| [&(body.len() as u32).to_le_bytes()[..3], &[number], body].concat();
    let asks = |sql: &str| (true, packet(0, &[b"\x03", sql.as_bytes()].concat()));
    let answers = |body: &[u8]| (false, packet(1, body));
    let all = vec![
        (false, packet(0, b"\x0a11.4.1-MariaDB\0rest")),
        (true, packet(1, &[0; 44])),
        answers(&[0]),
        asks("BEGIN"),
        answers(&[0]),
        asks("UPDATE a"),
        answers(b"\xff\x26\x04#42000no such"),
        asks("SELECT b"),
        (false, [packet(1, &[1]), packet(2, b"\x03def"), packet(3, b"\xff\x25\x05#70100cut off")].concat()),
        asks("COMMIT"),
        answers(&[0]),
        asks("BEGIN"),
        answers(&[0]),
        asks("UPDATE c"),
        answers(b"\xff\xbd\x04#40001deadlock"),
        asks("SELECT d"),
        // A row may be so long that it goes on in a packet which begins with any byte.
        (false, [packet(1, &vec![1; 0xff_ffff]), packet(2, &[0xff, 0x26, 4])].concat()),
    ];
    for cut in [4096, 20_000_000] {
        let captured = heard(Engine::Mariadb, &all, cut);
        assert_eq!(
            kept(&captured),
            (vec!["BEGIN", "COMMIT", "BEGIN", "ROLLBACK", "SELECT d"], Some(&2)),
            "{captured:?}"
        );
    }
}

#[test]
fn what_is_sealed_is_told_and_a_server_that_does_not_seal_is_heard() {
    let sealed = heard(Engine::Postgres, &[(true, asks_to_seal()), (false, b"S".to_vec()), (true, vec![22; 90])], 1000);
    assert!(sealed.trace.heard.is_empty() && sealed.lacking[0].contains("sslmode=disable"), "{sealed:?}");
    let mut plain = simple_and_extended();
    plain.splice(0..0, [(true, asks_to_seal()), (false, b"N".to_vec())]);
    assert_eq!(heard(Engine::Postgres, &plain, 2).trace.heard.len(), 4);
    let strange = heard(Engine::Postgres, &[(true, b"GET / HTTP/1.1".to_vec())], 1000);
    assert!(strange.lacking[0].contains("does not speak"), "{strange:?}");
}

#[test]
fn texts_of_mariadb_are_heard_and_what_it_prepared_is_counted() {
    let packet = |number: u8, body: &[u8]| [&(body.len() as u32).to_le_bytes()[..3], &[number], body].concat();
    let login = |able: u32| packet(1, &[&able.to_le_bytes()[..], &[0; 40]].concat());
    let all = |able| {
        vec![
            (false, packet(0, b"\x0a11.4.1-MariaDB\0rest")),
            (true, login(able)),
            (false, packet(2, &[0])),
            (true, packet(0, b"\x03SELECT 'a'")),
            (false, packet(1, b"rows")),
            (false, packet(2, b"more rows")),
            (true, packet(0, b"\x17execute")),
            (true, packet(0, b"\x01")),
        ]
    };
    for cut in [1, 5, 1000] {
        let captured = heard(Engine::Mariadb, &all(0), cut);
        assert_eq!(lines(&captured), [(3, Some(2), "SELECT 'a'".to_owned(), None)]);
        assert_eq!(captured.trace.server, "MariaDB 11.4.1-MariaDB");
        assert_eq!(captured.left_out.values().sum::<u64>(), 1);
    }
    assert!(heard(Engine::Mariadb, &all(0x20), 1000).lacking[0].contains("compressed"));
}
