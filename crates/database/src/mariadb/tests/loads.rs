//! Bulk loads by both roads.

use super::super::MariadbSession;
use super::super::load::{self, Road};
use super::own;
use crate::{FailureKind, Rows, Session};
use study::Protocol;
use workload::transaction::Value;

/// Rows from a list.
struct Listed<'a>(std::slice::Iter<'a, Vec<Value>>);

impl Rows for Listed<'_> {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        self.0.next().map(|next| row.clone_from(next)).is_some()
    }
}

fn listed(count: i64) -> Vec<Vec<Value>> {
    let odd = ["", "\\N", "a\tb", "c\nd\r\n", "\\", "e\\tf", "'\"`", "\0", "ü🦀", " \u{1a} "];
    let row = |id: i64| {
        let text = if id % 11 == 0 { Value::Null } else { Value::from(format!("{}{id}{0}", odd[id as usize % 10])) };
        vec![
            Value::Int(id),
            text,
            Value::Int(-id),
            if id % 7 == 0 { Value::Null } else { Value::Float(id as f64 / 3.0) },
        ]
    };
    (0..count).map(row).collect()
}

#[test]
fn rows_load_the_same_by_file_and_by_inserts_and_wholly_or_not_at_all() {
    let Some(own) = own("rows load") else { return };
    let mut session = own.session(Protocol::Prepared, &[]);
    let columns = ["id", "text", "order", "f"];
    for table in ["by_file", "by_insert", "by_itself"] {
        let keys = "`id` BIGINT PRIMARY KEY, `text` TEXT, `order` BIGINT NOT NULL, f DOUBLE";
        session.script(&format!("CREATE TABLE {table} ({keys}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")).unwrap();
    }
    let rows = listed(20_000);
    let mut load = |table: &str, road: Option<Road>, rows: &[Vec<Value>]| {
        let mut rows = Listed(rows.iter());
        match road {
            Some(road) => load::load(&mut session.inside, road, &load::Into { table, columns: &columns }, &mut rows),
            None => session.load(table, &columns, &mut rows),
        }
    };
    assert_eq!(load("by_file", Some(Road::File), &rows), Ok(20_000));
    assert_eq!(load("by_insert", Some(Road::Inserts(100_000)), &rows), Ok(20_000));
    assert_eq!(load("by_itself", None, &[]), Ok(0));
    // A double key, a value that must be there, a table that is not there: nothing is kept, and the session goes on.
    for road in [Road::File, Road::Inserts(1000)] {
        let mut double = rows.clone();
        double[19_999][0] = Value::Int(5);
        let failure = load("by_itself", Some(road), &double).unwrap_err();
        assert!(failure.kind == FailureKind::Refused && failure.text.contains("1062"), "{failure}");
        let mut missing = rows.clone();
        missing[3][2] = Value::Null;
        let failure = load("by_itself", Some(road), &missing).unwrap_err();
        assert!(failure.kind == FailureKind::Refused && failure.text.contains("order"), "{failure}");
        let failure = load("no_such_table", Some(road), &rows).unwrap_err();
        assert!(failure.text.contains("1146"), "{failure}");
    }
    let count =
        |session: &mut MariadbSession, table: &str| session.query(&format!("SELECT COUNT(*) FROM {table}")).unwrap();
    assert_eq!(count(&mut session, "by_itself"), [[Value::Int(0)]]);
    let same = "SELECT COUNT(*) FROM by_file a JOIN by_insert b USING (id)
                WHERE a.text <=> b.text AND a.`order` = b.`order` AND a.f <=> b.f AND BINARY COALESCE(a.text, '') = BINARY COALESCE(b.text, '')";
    assert_eq!(session.query(same).unwrap(), [[Value::Int(20_000)]]);
    let back = session.query("SELECT id, text, `order`, f FROM by_file ORDER BY id LIMIT 100").unwrap();
    assert_eq!(back, rows[..100]);
    assert_eq!(load::road(&mut session.inside).unwrap(), Road::File);
    session.script("SET GLOBAL local_infile = 0").unwrap();
    assert_eq!(load::road(&mut session.inside).unwrap(), Road::Inserts(1 << 20));
}
