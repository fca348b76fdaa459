//! Bulk loads come back as they went in.

use super::{plain, private, run};
use crate::{FailureKind, Rows, Session};
use workload::transaction::Value;

struct List<'a>(std::slice::Iter<'a, Vec<Value>>);

impl Rows for List<'_> {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        self.0.next().map(|next| row.clone_from(next)).is_some()
    }
}

fn list(rows: &[Vec<Value>]) -> List<'_> {
    List(rows.iter())
}

fn odd_rows() -> Vec<Vec<Value>> {
    let texts = ["", "\\N", "a\tb\nc\rd\\e", "o'dd \"x\"", "\u{1F980} ü", "\\.", "NULL", " "];
    let row = |(at, text): (usize, &&str)| vec![Value::Int(at as i64), Value::from(*text), Value::Null];
    texts.iter().enumerate().map(row).collect()
}

#[test]
fn nulls_and_odd_texts_survive_a_load_in_both_forms() {
    let Some(private) = private("copy") else { return };
    run(&private.server.connect(), "CREATE TABLE quick (id bigint, t text, v varchar(9))");
    run(&private.server.connect(), "CREATE TABLE slow (id bigint, t text, v numeric)");
    for table in ["quick", "slow"] {
        let mut session = plain(&private.server.connect());
        assert_eq!(session.load(table, &["id", "t", "v"], &mut list(&odd_rows())).unwrap(), 8);
        assert_eq!(session.query(&format!("SELECT id, t, v FROM {table} ORDER BY id")).unwrap(), odd_rows());
    }
}

#[test]
fn every_kind_of_column_takes_its_values_and_refuses_others() {
    let Some(private) = private("kinds-copy") else { return };
    run(&private.server.connect(), "CREATE TABLE k (a smallint, b int, c bool, d float4, e float8, f text)");
    let mut session = plain(&private.server.connect());
    let columns = ["a", "b", "c", "d", "e", "f"];
    let good = vec![Value::Int(-1), Value::Int(70_000), Value::Int(1), Value::Float(0.5), Value::Int(3), Value::Int(9)];
    assert_eq!(session.load("k", &columns, &mut list(std::slice::from_ref(&good))).unwrap(), 1);
    let back = session.query("SELECT * FROM k").unwrap();
    let mut expected = good.clone();
    (expected[4], expected[5]) = (Value::Float(3.0), Value::Text("9".into()));
    assert_eq!(back, [expected]);
    let mut wide = good.clone();
    wide[0] = Value::Int(40_000);
    let refused = session.load("k", &columns, &mut list(&[good.clone(), wide])).unwrap_err();
    assert!(refused.kind == FailureKind::Refused && refused.text.contains("k.a"), "{refused}");
    let short = session.load("k", &columns, &mut list(&[good[..5].to_vec()])).unwrap_err();
    assert!(short.text.contains("6 columns"), "{short}");
    assert_eq!(session.query("SELECT count(*) FROM k").unwrap(), [[Value::Int(1)]]);
}

#[test]
fn a_row_that_the_server_refuses_ends_a_load_early_and_keeps_nothing() {
    let Some(private) = private("badcopy") else { return };
    run(&private.server.connect(), "CREATE TABLE u (id bigint PRIMARY KEY, t text)");
    let mut session = plain(&private.server.connect());
    let rows: Vec<Vec<Value>> = (0..60_000).map(|n| vec![Value::Int(n % 50_000), "x".repeat(90).into()]).collect();
    let refused = session.load("u", &["id", "t"], &mut list(&rows)).unwrap_err();
    assert!(refused.text.contains("23505"), "{refused}");
    assert_eq!(session.query("SELECT count(*) FROM u").unwrap(), [[Value::Int(0)]]);
    assert_eq!(session.load("u", &["id", "t"], &mut list(&rows[..50_000])).unwrap(), 50_000);
    let missing = session.load("nowhere", &["id"], &mut list(&[])).unwrap_err();
    assert!(missing.text.contains("nowhere"), "{missing}");
    assert_eq!(
        session.query("SELECT count(*), sum(id) FROM u").unwrap(),
        [[Value::Int(50_000), Value::Int(1_249_975_000)]]
    );
}
