//! Traces: read, taken apart, and sent again.

use super::keys::Asked;
use super::program::{Compiled, Program};
use super::{Heard, Trace, shape, told};
use crate::kind::{Around, Ready, Share, Transactions};
use crate::transaction::{Answers, Batch, Begun, Call, Step, Value};
use proptest::prelude::*;
use std::sync::Arc;
use units::Nanos;

const ASKED: Asked = Asked { trace: String::new(), paced: true, speed: 1.0 };

fn heard(at_us: u64, session: u32, sql: &str) -> Heard {
    let (at, took) = (Nanos::from_micros(at_us), Some(Nanos::from_micros(10)));
    Heard { at, session, took, sql: sql.to_owned(), parameters: None }
}

fn trace(heard: Vec<Heard>) -> Trace {
    Trace { server: "PostgreSQL 15".to_owned(), window: Nanos::from_micros(10_000), heard }
}

fn program(asked: &Asked, trace: &Trace, sessions: u32, textual: bool) -> Result<Program, String> {
    Program::new(asked, trace, &Around { textual, sessions, file: &|_| Ok(String::new()) })
}

fn compiled(program: Program) -> Compiled {
    Compiled(Arc::new(program), Arc::default())
}

#[test]
fn a_statement_is_told_without_any_value_however_it_is_written() {
    for (server, sql, shown) in [
        (
            "PostgreSQL 15",
            "SELECT \"Name\" FROM t WHERE a = E'GEHEIM' AND b = -5",
            "SELECT \"Name\" FROM t WHERE a = E$1 AND b = $2",
        ),
        (
            "PostgreSQL 15",
            "SELECT e'x\\'GEHEIM', U&'d\\0061t' AND b BETWEEN -5 AND -3::int8",
            "SELECT e$1, U&$2 AND b BETWEEN $3 AND $4::int8",
        ),
        (
            "PostgreSQL 15",
            "SELECT $2 + $1 + 7, date'GEHEIM', $$GEHEIM$$, $x$GEHEIM$x$",
            "SELECT $2 + $1 + $3, date$4, $5, $6",
        ),
        ("PostgreSQL 15", "SELECT E'x\\'GEHEIM' AND b = 'GEHEIM'", "SELECT E$1 AND b = $2"),
        ("PostgreSQL 15", "SELECT 'x\\' AND b = 'GEHEIM'", "SELECT $1…"),
        ("PostgreSQL 15", "SELECT 1 /* a /* b */ GEHEIM */", "SELECT $1 …"),
        ("PostgreSQL 15", "SELECT a -- GEHEIM\nFROM t1", "SELECT a  \nFROM t1"),
        (
            "MariaDB 11",
            "SELECT `a 1` FROM t WHERE b = \"GEHEIM\" AND c = 0x4745 # GEHEIM",
            "SELECT `a 1` FROM t WHERE b = $1 AND c = $2  ",
        ),
        ("MariaDB 11", "SELECT 'x\\'GEHEIM'", "SELECT $1…"),
        ("MariaDB 11", "SELECT _utf8'GEHEIM' x'47', 'a''b'12'GEHEIM", "SELECT _utf8$1 x$2, $3 $4"),
        ("", "UPDATE \"GEHEIM\" SET a = 'GEHEIM", "UPDATE $1 SET a = $2"),
    ] {
        let told = told(sql, server);
        assert!(!told.contains("GEHEIM"), "{told}");
        assert_eq!(told.trim_end(), shown.trim_end(), "{sql}");
    }
}

#[test]
fn what_a_server_answers_is_told_without_the_values_that_it_repeats() {
    let names = ["INSERT INTO users (email) VALUES ($1)", "SELECT a FROM t2"];
    for (words, shown) in [
        (
            "INSERT INTO users (email) VALUES ($1): duplicate key value violates unique constraint \"users\" (Key (email)=(GEHEIM)), SQLSTATE 23505",
            "INSERT INTO users (email) VALUES ($1): duplicate key value violates unique constraint \"users\" (…), SQLSTATE 23505",
        ),
        (
            "SELECT a FROM t2: relation \"t2\" does not exist, SQLSTATE 42P01",
            "SELECT a FROM t2: relation \"t2\" does not exist, SQLSTATE 42P01",
        ),
        ("customer 4711 has no \"GEHEIM\" left, SQLSTATE P0001", "customer … has no … left, SQLSTATE P0001"),
        ("error 1062 (23000): Duplicate entry 'O'GEHEIM' for key 'PRIMARY'", "error 1062 (23000): Duplicate entry …"),
        (
            "error 1064 (42000): syntax; near 'a = 'GEHEIM' AND'' at line 1",
            "error 1064 (42000): syntax; near … at line …",
        ),
        ("deadlock detected", "deadlock detected"),
    ] {
        assert_eq!(super::literals::answered(words, names.into_iter()), shown);
    }
}

#[test]
fn statements_are_called_without_values_of_clients_whichever_protocol_sends_them() {
    let mut beside = heard(2, 0, "SELECT $1, 'GEHEIM'");
    beside.parameters = Some(vec![Some("GEHEIM".to_owned())]);
    let all = vec![heard(1, 0, "UPDATE t SET iban = 'GEHEIM' WHERE id = 4711"), beside];
    for textual in [false, true] {
        let statements = compiled(program(&ASKED, &trace(all.clone()), 1, textual).unwrap()).statements(None);
        let names: Vec<&str> = statements.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["UPDATE t SET iban = $1 WHERE id = $2", "SELECT $1, $2"]);
        assert!(textual || statements[0].sql.contains("GEHEIM"), "where a value must be sent it is sent");
    }
}

#[test]
fn without_moments_all_sessions_draw_from_one_queue_so_that_the_mix_is_the_traces() {
    // One session said 2 statements, the other 8; four of them are sent by three workers of different speed.
    let mut all: Vec<Heard> = (0..8).map(|at| heard(10 * at, 0, "SELECT a FROM t")).collect();
    all.extend([heard(15, 1, "SELECT b FROM t"), heard(55, 1, "SELECT b FROM t")]);
    all.sort_by_key(|one| one.at);
    let program = compiled(program(&Asked { paced: false, ..ASKED }, &trace(all), 6, false).unwrap());
    let share = |worker| Share { worker, workers: 3, first: worker, slots: 2, seed: 0, epoch: 0, half: None };
    let mut workers: Vec<_> = (0..3).map(|worker| program.business(&share(worker))).collect();
    let (mut counts, mut batch) = ([0, 0], Batch::default());
    for n in 0..100 {
        // The first slot of the first worker carries half of all.
        let (worker, slot) = if n % 2 == 0 { (0, 0) } else { (n / 2 % 3, n as u32 / 6 % 2) };
        let business = &mut workers[worker];
        assert_eq!(business.due(slot), None);
        business.begin(slot, Begun { n: n as u64, payload: 0, at: Nanos::ZERO });
        batch.clear();
        assert!(matches!(business.step(slot, &Answers::default(), &mut batch), Step::Send));
        for call in batch.calls() {
            let Call::Statement { statement, .. } = call else { unreachable!("statements alone") };
            counts[usize::from(statement)] += 1;
        }
    }
    assert_eq!(counts, [80, 20]);
}

#[test]
fn values_are_taken_out_of_a_text_and_go_back_in_as_they_were() {
    for (sql, shaped, values) in [
        ("SELECT a1 FROM t WHERE id = 5", "SELECT a1 FROM t WHERE id = $1", vec!["5"]),
        (
            "INSERT INTO t VALUES (-1.5e-3, 'it''s', .5)",
            "INSERT INTO t VALUES ($1, $2, $3)",
            vec!["-1.5e-3", "'it''s'", ".5"],
        ),
        (
            "SELECT \"x 1\", `y 2`, $$a $1$$ -- 7\n, /* 8 */ 9",
            "SELECT \"x 1\", `y 2`, $1  \n,   $2",
            vec!["$$a $1$$", "9"],
        ),
        ("SELECT 'never ended", "SELECT $1", vec!["'never ended"]),
        ("SELECT a - 1, b + -2", "SELECT a - $1, b + $2", vec!["1", "-2"]),
        ("SELECT ''0", "SELECT $1", vec!["''0"]),
        ("SELECT $1 + 2", "SELECT $1 + $1", vec!["2"]),
        ("SELECT -5 - -3, a[-1]", "SELECT $1 - $2, a[$3]", vec!["-5", "-3", "-1"]),
        (
            "SELECT a WHERE b BETWEEN -5 AND -3 LIMIT -1",
            "SELECT a WHERE b BETWEEN $1 AND $2 LIMIT $3",
            vec!["-5", "-3", "-1"],
        ),
        ("SELECT '5'::int - -3::int8, f(x)-1", "SELECT $1::int - $2::int8, f(x)-$3", vec!["'5'", "-3", "1"]),
        (r"SELECT E'it\'s -- 5', U&'d\0061t' /* 7 */", "SELECT E$1, U&$2  ", vec![r"'it\'s -- 5'", r"'d\0061t'"]),
        (r"SELECT 'c:\', 5", "SELECT $1, $2", vec![r"'c:\'", "5"]),
        (
            "SELECT $x$it's $$ 5$x$, N'5', date'2026-01-01'",
            "SELECT $1, N$2, date$3",
            vec!["$x$it's $$ 5$x$", "'5'", "'2026-01-01'"],
        ),
        ("SELECT 1 /* a /* b */ 7 */, 2", "SELECT $1  , $2", vec!["1", "2"]),
        ("/*+ SeqScan(t) */ SELECT 1", "/*+ SeqScan(t) */ SELECT $1", vec!["1"]),
    ] {
        let values = values.into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(shape(sql, "PostgreSQL 15"), (shaped.to_owned(), values), "{sql}");
    }
}

#[test]
fn backslashes_comments_and_signs_are_read_as_the_server_does() {
    for (sql, shaped, values) in [
        (r#"SELECT '{"a": "it\'s -- 5"}', 7"#, "SELECT $1, $2", vec![r#"'{"a": "it\'s -- 5"}'"#, "7"]),
        (r#"SELECT "it's \" # 5", 7"#, r#"SELECT "it's \" # 5", $1"#, vec!["7"]),
        ("SELECT 5--3, 7 # it's 8\n, 9 -- it's 8", "SELECT $1-$2, $3  \n, $4  ", vec!["5", "-3", "7", "9"]),
        ("SELECT /*!50100 SQL_NO_CACHE */ 5 /* a /* b */", "SELECT /*!50100 SQL_NO_CACHE */ $1  ", vec!["5"]),
    ] {
        let values = values.into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(shape(sql, "MariaDB 11"), (shaped.to_owned(), values), "{sql}");
    }
}

proptest! {
    #[test]
    fn a_text_without_comments_is_whole_again_with_its_values_in_it(sql in "[a-eE0-9 ,='\".()_\\\\]{0,40}", postgres: bool) {
        let (shaped, values) = shape(&sql, if postgres { "PostgreSQL" } else { "MariaDB" });
        let mut again = String::new();
        let values: Vec<Value> = values.into_iter().map(Value::Text).collect();
        crate::sql::splice(&shaped, &values, &mut again);
        prop_assert_eq!(again, sql);
    }

    #[test]
    fn a_trace_is_read_as_it_was_written(
        sql in "\\PC{0,30}[\t\n\\\\]{0,3}", value in proptest::option::of("\\PC{0,9}[\t\\\\N]{0,2}"), session in 0u32..9
    ) {
        let mut one = heard(5, session, &sql);
        one.parameters = Some(vec![value, Some(String::new())]);
        let trace = trace(vec![one, heard(7, 0, "COMMIT")]);
        prop_assert_eq!(Trace::parse(&trace.write()), Ok(trace));
    }

    #[test]
    fn no_text_makes_reading_a_trace_a_shape_or_a_told_statement_panic(text in "\\PC{0,60}") {
        let _ = (Trace::parse(&text), Trace::parse(&format!("prony-trace 1\t5\tx\n{text}")), shape(&text, ""), shape(&text, "PostgreSQL"), told(&text, ""), told(&text, "PostgreSQL"));
    }
}

#[test]
fn a_session_sends_its_transactions_at_their_moments_with_their_pauses_and_begins_anew() {
    let said = ["BEGIN", "UPDATE t SET a = 5 WHERE id = 7", "COMMIT;"];
    let mut all: Vec<Heard> = said.iter().zip([100, 110, 620]).map(|(sql, at)| heard(at, 1, sql)).collect();
    all.extend([heard(50, 0, "SELECT 1"), heard(300, 0, "commit"), heard(9_000, 1, "begin")]);
    all.sort_by_key(|heard| heard.at);
    let asked = Asked { speed: 2.0, ..ASKED };
    let program = compiled(program(&asked, &trace(all), 2, true).unwrap());
    let share = Share { worker: 1, workers: 2, first: 1, slots: 1, seed: 0, epoch: 0, half: None };
    let (mut business, mut batch, mut log) = (program.business(&share), Batch::default(), Vec::new());
    assert_eq!(business.due(0), Some(Nanos::from_micros(50)));
    business.begin(0, Begun { n: 0, payload: 0, at: Nanos::ZERO });
    assert_eq!(business.due(0), Some(Nanos::from_micros(5_050)), "the trace begins anew");
    loop {
        batch.clear();
        match business.step(0, &Answers::default(), &mut batch) {
            Step::Done { rolled_back } => break assert!(!rolled_back),
            Step::Sleep(time) => log.push(format!("pause {} us", time.0 / 1000)),
            Step::Send => log.extend(batch.calls().map(|call| match call {
                Call::Statement { parameters, .. } => format!("{parameters:?}"),
                other => format!("{other:?}"),
            })),
            Step::Fail => unreachable!("nothing fails by itself"),
        }
    }
    let values = r#"[Text("5"), Text("7")]"#;
    assert_eq!(log, ["Begin { write: true }", values, "pause 250 us", "Commit"]);
    assert_eq!(program.statements(None)[1].sql, "UPDATE t SET a = $1 WHERE id = $2");
}

#[test]
fn a_transaction_that_says_how_it_begins_is_one_and_begins_so_again() {
    let said = ["start transaction isolation level serializable, read only;", "SELECT 1", "COMMIT"];
    let all: Vec<Heard> = said.iter().zip([1, 20, 40]).map(|(sql, at)| heard(at, 0, sql)).collect();
    for (server, wanted) in [("PostgreSQL 15", 2), ("MariaDB 11", 1)] {
        let trace = Trace { server: server.to_owned(), ..trace(all.clone()) };
        let program = program(&ASKED, &trace, 1, true).unwrap();
        assert_eq!((program.sessions[0].len(), program.sessions[0][0].said.len()), (1, 2 + wanted));
        let sent: Vec<String> = compiled(program).statements(None).into_iter().map(|one| one.sql).collect();
        let all = ["SET TRANSACTION isolation level serializable, read only", "SELECT $1"];
        assert_eq!(sent, all[2 - wanted..], "{server}");
    }
    for (sql, begins) in [
        ("BEGIN NOT ATOMIC SELECT 1; END", false),
        ("start slave", false),
        ("BEGIN WORK NOT DEFERRABLE", true),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", true),
        ("BEGIN", true),
    ] {
        assert_eq!(super::bound(sql).is_some(), begins, "{sql}");
    }
}

#[test]
fn a_session_that_does_not_commit_each_statement_by_itself_sends_its_transactions_whole() {
    let said = [
        "SELECT 0",
        "set @@session.autocommit = 0, sql_mode='A,B'",
        "UPDATE a",
        "UPDATE b",
        "COMMIT",
        "UPDATE c",
        "ROLLBACK",
        "UPDATE d",
        "SET AUTOCOMMIT=1;",
        "UPDATE e",
    ];
    let all: Vec<Heard> = said.iter().zip(1..).map(|(sql, at)| heard(20 * at, 0, sql)).collect();
    let trace = Trace { server: "MariaDB 10.11".to_owned(), ..trace(all) };
    let program = program(&ASKED, &trace, 1, true).unwrap();
    let sizes: Vec<usize> = program.sessions[0].iter().map(|one| one.said.len()).collect();
    assert_eq!(sizes, [1, 1, 4, 3, 3, 1], "{program:?}");
    assert!(program.sessions[0][2..5].iter().all(|one| one.said[0].1 == super::Said::Begin));
    let sent: Vec<String> = compiled(program).statements(None).into_iter().map(|one| one.sql).collect();
    assert_eq!(sent, ["SELECT $1", "SET sql_mode=$1", "UPDATE a", "UPDATE b", "UPDATE c", "UPDATE d", "UPDATE e"]);
}

#[test]
fn more_sessions_than_were_heard_and_texts_beyond_count_are_refused_with_what_to_do() {
    let many: Vec<Heard> = (0..1_001).map(|at| heard(at, 0, &format!("SELECT {at}"))).collect();
    let told = program(&ASKED, &trace(many.clone()), 1, false).unwrap_err();
    assert!(told.contains("protocol=simple"), "{told}");
    assert_eq!(program(&ASKED, &trace(many.clone()), 1, true).map(compiled).unwrap().statements(None).len(), 1);
    let told = program(&ASKED, &trace(many), 2, true).unwrap_err();
    assert!(told.contains("1 of its sessions") && told.contains("take 1"), "{told}");
    let told = program(&ASKED, &trace(vec![heard(1, 0, "BEGIN"), heard(2, 1, "SELECT 1")]), 2, true).unwrap_err();
    assert!(told.contains("take 1"), "{told}");
}

#[test]
fn values_that_were_sent_beside_a_text_are_sent_so_again_or_stand_in_it_as_texts() {
    let mut one = heard(1, 0, "SELECT $1, $2");
    one.parameters = Some(vec![Some("it's".to_owned()), None]);
    for (textual, first) in [(false, "it's"), (true, "'it''s'")] {
        let program = program(&ASKED, &trace(vec![one.clone()]), 1, textual).unwrap();
        let said = &program.sessions[0][0].said[0].1;
        let values = vec![Value::Text(first.to_owned()), Value::Null];
        assert_eq!(*said, super::program::Said::Statement(0, values));
        assert!(compiled(program).spliced() == textual && Asked { paced: false, ..ASKED }.classes().len() == 1);
    }
}
