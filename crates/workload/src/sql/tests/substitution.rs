//! Variables in statements.

use super::{begun, built, spec};
use crate::sql::splice;
use crate::transaction::{Answers, Batch, Business, Call, Statement, Step, Value};

/// The first statement of a script with its parameters, and its text in the simple protocol.
fn first(text: &str, textual: bool) -> (Statement, Vec<Value>) {
    let mut spec = spec(&[text]);
    spec.textual = textual;
    spec.define = vec![("d".to_owned(), "it's".to_owned())];
    let mut scripts = built(&spec).unwrap();
    scripts.begin(0, begun(0));
    let mut batch = Batch::default();
    assert_eq!(scripts.step(0, &Answers::default(), &mut batch), Step::Send);
    // A bare bound is a call, and stands in the list of statements all the same.
    let (statement, parameters) = match batch.get(0) {
        Call::Statement { statement, parameters } => (statement, parameters.to_vec()),
        Call::Begin { .. } | Call::Commit | Call::Rollback => (0, vec![]),
    };
    (scripts.program.statements()[usize::from(statement)].clone(), parameters)
}

fn spliced(text: &str) -> String {
    let (statement, parameters) = first(text, true);
    let mut sql = String::new();
    splice(&statement.sql, &parameters, &mut sql);
    sql
}

#[test]
fn each_occurrence_is_a_parameter_of_its_own() {
    let (statement, parameters) = first("\\set x 5\nselect :x1, :x+:x, 1::int, a[1:2], :x::int, :::x, ':x';", false);
    assert_eq!(statement.sql, "select $1, $2+$3, 1::int, a[1:2], $4::int, :::x, '$5'");
    let five = Value::Int(5);
    assert_eq!(parameters, [Value::Null, five.clone(), five.clone(), five.clone(), five]);
}

#[test]
fn the_simple_protocol_puts_values_in_as_they_are() {
    // What `pgbench -M simple -d` of version 15.18 said that it sent.
    let script = "\\set n null\n\\set b true\n\\set d2 1.0/3\nselect :n as n, :b as b, :d2 as d";
    assert_eq!(spliced(script), "select NULL as n, true as b, 0.333333333333333 as d");
    assert_eq!(
        spliced("\\set x 1\nselect ':x' as a, '12:30', :x /* :x */ as b"),
        "select '1' as a, '12:30', 1 /* 1 */ as b"
    );
    assert_eq!(spliced("select :d, ':nosuch', :nosuch"), "select it's, ':nosuch', :nosuch");
}

#[test]
fn dollars_of_the_user_survive_in_the_simple_protocol() {
    assert_eq!(
        spliced("\\set x 7\nprepare p as select $1, $12, $$:x$$, a$:x"),
        "prepare p as select $1, $12, $$7$$, a$7"
    );
}

#[test]
fn values_beside_the_text_keep_their_kind() {
    let script =
        "\\set i -3\n\\set f 1.5\n\\set b 1=1\n\\set n null\nselect :i, :f, :b, :n, :d, :nosuch, :scale, :client_id";
    let (_, parameters) = first(script, false);
    let text = |text: &str| Value::Text(text.to_owned());
    let wanted = [
        Value::Int(-3),
        Value::Float(1.5),
        text("true"),
        text("NULL"),
        text("it's"),
        Value::Null,
        Value::Int(10),
        Value::Int(5),
    ];
    assert_eq!(parameters, wanted);
}

#[test]
fn a_value_that_looks_like_a_parameter_is_not_replaced_again() {
    let mut sql = String::new();
    splice("select $1, $2, $3", &[Value::Text("$2".to_owned()), Value::Int(8)], &mut sql);
    assert_eq!(sql, "select $2, 8, $3");
}

#[test]
fn statements_say_whether_they_give_rows() {
    let table = [
        ("select 1", true),
        ("SELECT 1", true),
        ("/* c */ (select 1)", true),
        ("values (1)", true),
        ("with a as (select 1) select * from a", true),
        ("with a as (select 1) insert into t select * from a", false),
        ("update t set x = 1", false),
        ("update t set x = 'returning'", false),
        ("insert into t values (1) returning id", true),
        ("begin", false),
    ];
    for (text, rows) in table {
        assert_eq!(first(text, false).0.rows, rows, "{text}");
    }
}
