//! Transactions step by step.

use super::{begun, built, one, ran, spec};
use crate::sql::builtin::{SELECT_ONLY, TPCB_LIKE, script};
use crate::sql::scalar::{Held, Scalar};
use crate::sql::{Program, Script, Scripts, Spec};
use crate::transaction::{Answers, Batch, Business, Call, Step, Value};
use std::sync::Arc;
use units::Nanos;

/// A row of answers with names.
fn answers(rows: &[(&[&str], &[&[Value]])]) -> Answers {
    let mut answers = Answers::default();
    for (names, rows) in rows {
        answers.begin(names.len());
        answers.named(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().into());
        rows.iter().flat_map(|row| row.iter()).for_each(|value| answers.push(value.clone()));
        answers.end(0);
    }
    answers
}

fn step(scripts: &mut Scripts, answers: &Answers) -> (Step, Batch) {
    let mut batch = Batch::default();
    let step = scripts.step(0, answers, &mut batch);
    (step, batch)
}

fn int(number: i64) -> Held {
    Held::Scalar(Scalar::Int(number))
}

#[test]
fn the_money_script_is_seven_statements_with_values_in_range() {
    let mut scripts = one(TPCB_LIKE).unwrap();
    let statements = scripts.program.statements();
    assert_eq!(statements.len(), 7);
    for n in 0..200 {
        scripts.begin(0, begun(n));
        let mut sent = Vec::new();
        loop {
            let (step, batch) = step(&mut scripts, &Answers::default());
            if step != Step::Send {
                assert_eq!(step, Step::Done { rolled_back: false });
                break;
            }
            assert_eq!(batch.len(), 1);
            match batch.get(0) {
                Call::Begin { .. } => sent.push((0, vec![])),
                Call::Statement { statement, parameters } => sent.push((statement, parameters.to_vec())),
                Call::Commit => sent.push((6, vec![])),
                Call::Rollback => panic!("it is taken back"),
            }
        }
        let places: Vec<u16> = sent.iter().map(|(statement, _)| *statement).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6]);
        let value = |call: usize, at: usize| sent[call].1[at].int().unwrap();
        assert!((1..=1_000_000).contains(&value(2, 0)) && value(2, 0) == value(1, 1));
        assert!((-5000..=5000).contains(&value(1, 0)) && value(1, 0) == value(4, 0));
        assert!((1..=100).contains(&value(3, 1)) && (1..=10).contains(&value(4, 1)));
        assert_eq!(sent[5].1, [value(3, 1), value(4, 1), value(2, 0), value(1, 0)].map(Value::Int));
    }
    assert!(one(SELECT_ONLY).is_ok() && script("nosuch").is_none());
}

#[test]
fn bare_bounds_are_calls() {
    let mut scripts = one("BEGIN; select 1; rollback;").unwrap();
    scripts.begin(0, begun(0));
    assert_eq!(step(&mut scripts, &Answers::default()).1.get(0), Call::Begin { write: true });
    assert!(matches!(step(&mut scripts, &Answers::default()).1.get(0), Call::Statement { statement: 1, .. }));
    assert_eq!(step(&mut scripts, &Answers::default()).1.get(0), Call::Rollback);
    assert_eq!(step(&mut scripts, &Answers::default()).0, Step::Done { rolled_back: true });
}

#[test]
fn conditions_take_the_first_branch_that_holds() {
    let script = |condition: &str| {
        format!(
            "\\if {condition} = 1\n\\set r 1\n\\if false\n\\set r 10\n\\elif true\n\\set s 11\n\\else\n\\set r 12\n\\endif\n\
             \\elif {condition} = 2\n\\set r 2\n\\elif 1/({condition} - 3) < 0 and false\n\\set r 3\n\\else\n\
             \\if null\n\\set r 40\n\\else\n\\set r 41\n\\endif\n\\endif\n\\set t 1\n"
        )
    };
    for (condition, wanted) in [("1", 1), ("2", 2), ("4", 41)] {
        let mut scripts = one(&script(condition)).unwrap();
        ran(&mut scripts).unwrap();
        assert_eq!(scripts.variable("r"), int(wanted), "{condition}");
        assert_eq!(scripts.variable("t"), int(1));
        assert_eq!(scripts.variable("s") == int(11), condition == "1");
    }
    // The condition of a later branch is evaluated only when its turn comes.
    let complaint = ran(&mut one(&script("3")).unwrap()).unwrap_err();
    assert_eq!(complaint, "test:12: division by zero");
}

#[test]
fn one_row_becomes_variables() {
    let mut scripts = one("select 1 as a, 2 as b, 3 as unread \\gset p_\n\\set c :p_a + :p_b\n").unwrap();
    assert!(scripts.program.wants_names(0));
    assert_eq!(step(&mut scripts, &Answers::default()).0, Step::Send);
    let row = [Value::Int(4), Value::Text("7".to_owned()), Value::Null];
    let (next, _) = step(&mut scripts, &answers(&[(&["a", "b", "unread"], &[&row])]));
    assert_eq!(next, Step::Done { rolled_back: false });
    assert_eq!(scripts.variable("c"), int(11));
}

#[test]
fn what_is_not_one_row_with_good_names_fails() {
    let row: &[Value] = &[Value::Int(1)];
    let table: [(Answers, &str); 4] = [
        (answers(&[(&["a"], &[])]), "expected one row, got 0"),
        (answers(&[(&["a"], &[row, row])]), "expected one row, got 2"),
        (answers(&[(&["?column?"], &[row])]), "invalid variable name: \"?column?\"; give the column a name with AS"),
        (
            {
                let mut nameless = Answers::default();
                nameless.begin(1);
                nameless.push(Value::Int(1));
                nameless
            },
            "the session did not say what the columns are called",
        ),
    ];
    for (answers, wanted) in table {
        let mut scripts = one("\n select 1 as a \\gset\n").unwrap();
        step(&mut scripts, &Answers::default());
        assert_eq!(step(&mut scripts, &answers).0, Step::Fail);
        assert_eq!(scripts.complaint(0).unwrap(), format!("test:2: {wanted}"));
        assert_eq!(scripts.complaint(0), None);
    }
}

#[test]
fn every_answer_of_a_combined_query_becomes_variables_and_empty_ones_are_skipped() {
    let text = "select 1 as a \\; select 2 as b \\; select 3 as a \\aset\n\\set s :a + :b\n";
    let mut scripts = one(text).unwrap();
    let (next, batch) = step(&mut scripts, &Answers::default());
    assert_eq!((next, batch.len()), (Step::Send, 3));
    let row = |number: i64| [Value::Int(number)];
    let rows = answers(&[(&["a"], &[&row(1)]), (&["b"], &[&row(5), &row(20)]), (&["a"], &[])]);
    assert_eq!(step(&mut scripts, &rows).0, Step::Done { rolled_back: false });
    assert_eq!(scripts.variable("s"), int(21));
    // The last answer alone counts for \gset.
    let mut scripts = one(&text.replace("aset", "gset").replace(":b", "1")).unwrap();
    assert!(!scripts.program.wants_names(0) && scripts.program.wants_names(2));
    step(&mut scripts, &Answers::default());
    let rows = answers(&[(&["a"], &[&row(1)]), (&["b"], &[]), (&["a"], &[&row(9)])]);
    step(&mut scripts, &rows);
    assert_eq!(scripts.variable("s"), int(10));
}

#[test]
fn an_empty_field_is_an_empty_text_that_no_expression_takes() {
    let mut scripts = one("select null as a \\gset\n\\set b :a is null\n").unwrap();
    step(&mut scripts, &Answers::default());
    assert_eq!(step(&mut scripts, &answers(&[(&["a"], &[&[Value::Null]])])).0, Step::Fail);
    assert_eq!(scripts.variable("a"), Held::Text(String::new()));
}

#[test]
fn a_pipeline_is_one_batch_and_a_pause_does_not_part_it() {
    let text = "\\startpipeline\nselect :client_id;\n\\sleep 2 ms\nselect 2;\n\\syncpipeline\nselect 3;\n\\endpipeline\nselect 4;\n";
    let mut scripts = one(text).unwrap();
    let (pause, batch) = step(&mut scripts, &Answers::default());
    assert_eq!((pause, batch.len()), (Step::Sleep(Nanos(2_000_000)), 0));
    let (send, batch) = step(&mut scripts, &Answers::default());
    assert_eq!((send, batch.len()), (Step::Send, 2));
    assert_eq!(batch.get(0), Call::Statement { statement: 0, parameters: &[Value::Int(5)] });
    assert_eq!(step(&mut scripts, &Answers::default()).1.len(), 1);
    assert_eq!(step(&mut scripts, &Answers::default()).1.len(), 1);
    assert_eq!(step(&mut scripts, &Answers::default()).0, Step::Done { rolled_back: false });
}

#[test]
fn a_pipeline_under_a_condition_is_judged_when_it_runs() {
    let table = [
        ("\\if 1\n\\startpipeline\n\\endif\nselect 1;\n", "test:4: the script ended with its pipeline open"),
        ("\\if 1\n\\endpipeline\n\\endif\n", "test:2: not in a pipeline"),
        ("\\if 1\n\\startpipeline\n\\startpipeline\n\\endif\n", "test:3: already in a pipeline"),
        ("\\if 1\n\\startpipeline\nselect 1 \\gset\n\\endif\n", "test:3: not allowed in a pipeline"),
    ];
    for (text, wanted) in table {
        let complaint = ran(&mut one(text).unwrap()).unwrap_err();
        assert!(complaint.starts_with(wanted), "{text}: {complaint}");
    }
}

#[test]
fn pauses_read_their_time_as_c_does() {
    for (text, wanted) in [("12.7", 12), ("-5", 0), ("0", 0), ("99999999999999999999", u64::MAX / 1000)] {
        let mut spec = spec(&["\\sleep :t us\n"]);
        spec.define.push(("t".to_owned(), text.to_owned()));
        let mut scripts = built(&spec).unwrap();
        scripts.begin(0, begun(0));
        let Step::Sleep(Nanos(pause)) = step(&mut scripts, &Answers::default()).0 else { panic!("no pause") };
        assert_eq!(pause / 1000, wanted, "{text}");
    }
    assert!(ran(&mut one("\\sleep :t us\n").unwrap()).unwrap_err().contains("undefined variable \"t\""));
    let mut spec = spec(&["\\sleep :t\n"]);
    spec.define.push(("t".to_owned(), "soon".to_owned()));
    let mut scripts = built(&spec).unwrap();
    scripts.begin(0, begun(0));
    assert_eq!(ran(&mut scripts).unwrap_err(), "test:1: invalid sleep time \"soon\"");
}

#[test]
fn a_run_that_is_tried_again_has_the_draws_and_variables_of_its_start() {
    let mut scripts = one("\\set k :k + 1\n\\set r random(1, 1000000000)\nselect :k, :r;\n").unwrap();
    let number = scripts.program.names.find("k").unwrap();
    scripts.clients[0].variables.set(number, Scalar::Int(0));
    scripts.begin(0, begun(7));
    let (_, first) = step(&mut scripts, &Answers::default());
    scripts.restart(0);
    let (_, second) = step(&mut scripts, &Answers::default());
    assert_eq!(first, second);
    // The next run goes on from the variables that this one left.
    step(&mut scripts, &Answers::default());
    scripts.begin(0, begun(8));
    let (_, third) = step(&mut scripts, &Answers::default());
    let Call::Statement { parameters, .. } = third.get(0) else { panic!("no statement") };
    assert_eq!(parameters[0], Value::Int(2));
    assert_ne!(first.get(0), third.get(0));
}

#[test]
fn every_client_has_its_number_and_its_own_variables() {
    let mut scripts = built(&spec(&["\\set a :client_id * 2\nselect :a;\n"])).unwrap();
    for (slot, wanted) in [(0, 10), (1, 18)] {
        scripts.begin(slot, begun(u64::from(slot)));
        let mut batch = Batch::default();
        scripts.step(slot, &Answers::default(), &mut batch);
        assert_eq!(batch.get(0), Call::Statement { statement: 0, parameters: &[Value::Int(wanted)] });
    }
}

#[test]
fn definitions_come_before_what_is_always_there() {
    let mut spec = spec(&["\\set a :scale + :x\n"]);
    spec.define = vec![("scale".to_owned(), "5".to_owned()), ("x".to_owned(), "2.5".to_owned())];
    let mut scripts = built(&spec).unwrap();
    scripts.begin(0, begun(0));
    ran(&mut scripts).unwrap();
    assert_eq!(scripts.variable("a"), Held::Scalar(Scalar::Double(7.5)));
}

#[test]
fn scripts_are_drawn_by_their_weights_and_always_alike() {
    let script = |name: &str, weight| Script { name: name.to_owned(), text: "select 1;".to_owned(), weight };
    let scripts = vec![script("a", 6), script("never", 0), script("b", 3), script("c", 1)];
    let spec = Spec { scripts, define: vec![], scale: 1, textual: false };
    let program = Arc::new(Program::build(&spec).unwrap());
    assert_eq!(program.scripts.iter().map(|script| script.name.as_str()).collect::<Vec<_>>(), ["a", "never", "b", "c"]);
    let mut drawn = Scripts::new(program.clone(), 1, [0]);
    let mut again = Scripts::new(program, 1, [0, 1]);
    let mut counts = [0.0; 4];
    for n in 0..50_000 {
        let class = drawn.class(n, 0);
        assert_eq!(class, again.class(n, 0));
        counts[usize::from(class)] += 1.0;
    }
    assert_eq!(counts[1], 0.0);
    // 2 degrees of freedom: below 13.8 in 999 of 1000.
    let law = [30_000.0, 15_000.0, 5_000.0];
    let chi: f64 =
        [counts[0], counts[2], counts[3]].iter().zip(law).map(|(s, p): (&f64, f64)| (s - p).powi(2) / p).sum();
    assert!(chi < 13.8, "{chi}");
}
