//! Values go in and come out the same by every protocol.

use super::{ask, own};
use crate::Session;
use study::Protocol;
use workload::transaction::Value;

#[test]
fn values_come_back_as_they_were_sent_and_the_same_by_every_protocol() {
    let Some(own) = own("values come back") else { return };
    own.session(Protocol::Prepared, &[])
        .script(
            "CREATE TABLE odd (id BIGINT PRIMARY KEY, t TEXT, i BIGINT, f DOUBLE);
             CREATE TABLE kinds (a BIGINT UNSIGNED, b DECIMAL(20,2), c FLOAT, d DATE, e DATETIME(3), g TIME, h BIT(9), y YEAR, z VARCHAR(5));
             INSERT INTO kinds VALUES (18446744073709551615, 2.50, 0.1, '2026-01-02', '2026-01-02 03:04:05.6', '-25:00:01', 257, 2026, ''),
                                      (7, 2.00, 1234567, NULL, NULL, '00:00:00', 1, 1999, 'x')",
        )
        .unwrap();
    let texts = [
        "",
        "it's",
        "back\\slash \\N",
        "tab\tline\nreturn\r",
        "zero\0byte \u{1a}",
        "ünïcode 🦀",
        "$1 ? :a -- #",
        "NULL",
    ];
    let sql = [
        "INSERT INTO odd (id, t, i, f) VALUES ($1, $2, $3, $4)",
        "SELECT f, i, t, id FROM odd WHERE id = $1",
        "SELECT * FROM kinds ORDER BY a DESC",
        "UPDATE odd SET i = i WHERE id >= $1",
        "SELECT SUM(i), COUNT(*), $2, $1, $3 + 0.2 FROM odd WHERE id < $1",
    ];
    let mut all = Vec::new();
    for (number, protocol) in [Protocol::Prepared, Protocol::Extended, Protocol::Simple].into_iter().enumerate() {
        let mut session = own.session(protocol, &sql);
        let mut seen = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            let row = [
                Value::Int((number * 100 + place) as i64),
                Value::from(*text),
                if place == 0 { Value::Null } else { Value::Int(i64::MIN + place as i64) },
                Value::Float(0.1 * place as f64),
            ];
            assert_eq!(ask(&mut session, 0, &row).get(0).changed, 1);
            let back = ask(&mut session, 1, &row[..1]);
            assert_eq!(back.names(0).map(|names| names.join(",")), Some("f,i,t,id".to_owned()));
            let back: Vec<Value> = back.get(0).rows().next().unwrap().to_vec();
            assert_eq!(back, [row[3].clone(), row[2].clone(), row[1].clone(), row[0].clone()], "{protocol:?}");
            seen.push(back[..3].to_vec());
        }
        seen.extend(ask(&mut session, 2, &[]).get(0).rows().map(<[Value]>::to_vec));
        // Rows that an update met and left as they were are counted, as on the other engines.
        assert_eq!(ask(&mut session, 3, &[Value::Int(number as i64 * 100)]).get(0).changed, texts.len() as u64);
        seen.push(
            ask(&mut session, 4, &[Value::Int(2), Value::from("x"), Value::Float(0.1)])
                .get(0)
                .rows()
                .next()
                .unwrap()
                .to_vec(),
        );
        all.push(seen);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    let kinds = &all[0][texts.len()];
    assert_eq!(kinds[0], Value::from("18446744073709551615"));
    assert_eq!((&kinds[1], &kinds[2], &kinds[6]), (&Value::from("2.50"), &Value::Float(0.1), &Value::Int(257)));
    assert_eq!((&kinds[3], &kinds[4]), (&Value::from("2026-01-02"), &Value::from("2026-01-02 03:04:05.600")));
    assert_eq!(kinds[5], Value::from("-25:00:01"));
    assert_eq!(all[0][texts.len() + 1][1], Value::Int(2));
}
