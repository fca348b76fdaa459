//! Where commands begin and end, and what is wrong with them.

use super::{one, problems};
use crate::sql::Program;
use crate::sql::command::{Action, Amount};
use crate::sql::names::Names;
use crate::sql::reader::read;
use proptest::prelude::*;

/// The statements of a script, as they are written.
fn statements(text: &str) -> Vec<String> {
    let read = read("test", text, true, &mut Names::default());
    assert_eq!(read.problems, []);
    let parts = read.commands.into_iter().filter_map(|command| match command.action {
        Action::Sql { parts, .. } => Some(parts.into_iter().map(|part| part.written)),
        _ => None,
    });
    parts.flatten().collect()
}

#[test]
fn what_old_scripts_draw_by_setrandom_is_what_set_draws_today() {
    let actions = |text: &str| {
        let read = read("test", text, true, &mut Names::default());
        assert_eq!(read.problems, [], "{text}");
        read.commands.into_iter().map(|command| command.action).collect::<Vec<Action>>()
    };
    for (old, new) in [
        ("\\setrandom aid 1 100", "\\set aid random(1, 100)"),
        ("\\setrandom aid -5 :most uniform", "\\set aid random(-5, :most)"),
        ("\\setrandom aid :least :most gaussian 2.5", "\\set aid random_gaussian(:least, :most, 2.5)"),
        ("\\setrandom aid 1 9 exponential :by", "\\set aid random_exponential(1, 9, :by)"),
    ] {
        assert_eq!(actions(old), actions(new), "{old}");
    }
    for (text, said) in [
        ("\\setrandom aid 1", "\\setrandom needs NAME MIN MAX"),
        ("\\setrandom aid 1 9 zipfian 2", "\\setrandom needs NAME MIN MAX"),
        ("\\setrandom aid 1 9),(2", "a number or a :variable is needed, got 9),(2"),
        ("\\setrandom 9id 1 9", "invalid variable name"),
    ] {
        let problems = problems(&format!("{text}\nselect 1;"));
        assert!(problems.len() == 1 && problems[0].contains(said), "{text}: {problems:?}");
    }
}

#[test]
fn statements_end_where_psql_ends_them() {
    // What `pgbench -d` of version 15.18 said that it sent, without the last semicolon.
    let table: &[(&str, &[&str])] = &[
        ("select 1; select 2", &["select 1", "select 2"]),
        ("  \n-- ahead\n select 1 -- behind ;\n as b;", &["select 1 -- behind ;\n as b"]),
        ("/* lead; */ select 1;", &["/* lead; */ select 1"]),
        ("select 'a;b', $$x;y$$, \"q;\" /* ; /* n */ ; */ ;", &["select 'a;b', $$x;y$$, \"q;\" /* ; /* n */ ; */"]),
        ("select (1; 2); select 3;", &["select (1; 2)", "select 3"]),
        ("select E'it\\'s;', 'no\\'; select 2;", &["select E'it\\'s;', 'no\\'", "select 2"]),
        ("select $a$;$b$;$a$; select a$b$ ; select 3", &["select $a$;$b$;$a$", "select a$b$", "select 3"]),
        ("select 1 \\; select 2;", &["select 1", "select 2"]),
        ("select 1 \\; \\; ;", &["select 1"]),
        (";;", &[";", ";"]),
        ("select 9 \\: x;", &["select 9 : x"]),
        ("select 3 as c \\set y 2\nselect 4;", &["select 3 as c", "select 4"]),
        ("select 'it''s;';", &["select 'it''s;'"]),
        ("select '", &[]),
        (
            "create function f() returns int language sql begin atomic select 1; select case when true then 2 end; end; \
             select 2;",
            &[
                "create function f() returns int language sql begin atomic select 1; select case when true then 2 end; end",
                "select 2",
            ],
        ),
        ("begin; select 1; end;", &["begin", "select 1", "end"]),
    ];
    for (text, wanted) in table {
        if wanted.is_empty() {
            assert_eq!(problems(text), ["test:1:8: unterminated quoted string"]);
        } else {
            assert_eq!(statements(text), *wanted, "{text}");
        }
    }
}

#[test]
fn a_pause_is_a_number_with_a_unit_that_is_seconds_by_default() {
    let table = [
        ("\\sleep 10 ms", Amount::Fixed(10), ("ms", 1_000_000)),
        ("\\Sleep 10US", Amount::Fixed(10), ("us", 1_000)),
        ("\\sleep 2", Amount::Fixed(2), ("s", 1_000_000_000)),
        ("\\sleep \\\n  -3 s", Amount::Fixed(-3), ("s", 1_000_000_000)),
        ("\\sleep :x ms", Amount::Variable(0), ("ms", 1_000_000)),
    ];
    for (text, amount, unit) in table {
        let read = read("test", text, false, &mut Names::default());
        assert_eq!(read.problems, []);
        assert_eq!(read.commands[0].action, Action::Sleep { amount, unit }, "{text}");
    }
}

#[test]
fn each_mistake_is_told_with_its_place() {
    let table = [
        ("\\sleep", "1:1: \\sleep needs a time"),
        ("\\sleep ms", "1:8: invalid sleep time \"ms\", must be an integer"),
        ("\\sleep 1 h", "1:10: unrecognized time unit \"h\", must be us, ms or s"),
        ("\\sleep 1ms s", "1:8: invalid sleep time \"1ms\", must be an integer"),
        ("\\sleep 1 ms s", "1:13: too many arguments of \\sleep"),
        ("\\set", "1:1: \\set needs the name of a variable and an expression"),
        ("\\set a", "1:7: syntax error: an expression was expected here, but the line ends"),
        ("\\set 1a 5", "1:6: invalid variable name: \"1a\"; letters, digits and _ make a name, no digit first"),
        ("\\set a 1 +\n\\set b 2", "1:11: syntax error: an expression was expected here, but the line ends"),
        ("\\set a foo(1)", "1:8: unexpected function name \"foo\"; a variable is written :foo"),
        ("\\set a abs(1, 2)", "1:8: abs takes 1 arguments, not 2"),
        ("\\nosuch 1", "1:1: invalid command \\nosuch"),
        ("select 1;\n\\else", "2:1: \\else without matching \\if"),
        ("\\if 1\n\\else\n\\elif 2\n\\endif", "3:1: \\elif after \\else"),
        ("\\if 1\n\\else\n\\else\n\\endif", "3:1: \\else after \\else"),
        ("\\if 1\n\\if 2\n\\endif", "1:1: \\if without matching \\endif"),
        ("\\endif", "1:1: \\endif without matching \\if"),
        ("\\if 1\n\\endif x", "2:8: unexpected argument of \\endif"),
        ("\\gset", "1:1: \\gset must follow an SQL command, once"),
        ("\\set a 1\n\\gset", "2:1: \\gset must follow an SQL command, once"),
        ("select 1 \\gset a b", "1:18: too many arguments of \\gset"),
        ("select 1 \\gset\n\\aset", "2:1: \\aset must follow an SQL command, once"),
        ("\\startpipeline\nselect 1;", "1:1: the pipeline is never closed; close it with \\endpipeline"),
        ("\\endpipeline", "1:1: not in a pipeline; open it with \\startpipeline"),
        ("\\startpipeline\n\\startpipeline\n\\endpipeline", "2:1: already in a pipeline"),
        ("", "1:1: the script holds no command"),
        ("-- nothing\n", "1:1: the script holds no command"),
        ("select $$ab;", "1:8: unterminated dollar-quoted string"),
        ("/* ab", "1:1: unterminated comment"),
    ];
    for (text, wanted) in table {
        let found = problems(text);
        assert!(found.contains(&format!("test:{wanted}")), "{text}: {found:#?}");
    }
}

#[test]
fn shells_are_refused_with_a_reason() {
    for text in ["\\shell ls", "\\setshell x date"] {
        let found = problems(text);
        assert!(found[0].contains("is refused: a workload must not start programs"), "{found:?}");
    }
}

#[test]
fn all_mistakes_of_all_scripts_are_told_at_once() {
    let mut spec = super::spec(&["\\set a (\nselect 1;\n\\shell x\n\\if 1\n", "\\nope\n"]);
    spec.define.push(("1x".to_owned(), "5".to_owned()));
    let problems = Program::build(&spec).unwrap_err();
    assert_eq!(problems.0.len(), 5, "{problems}");
    assert!(problems.to_string().starts_with("invalid variable name: \"1x\""));
}

#[test]
fn a_lone_backslash_is_no_command() {
    assert_eq!(statements("\\\nselect 1;\n\\   \nselect 2;"), ["select 1", "select 2"]);
}

#[test]
fn pipelines_need_another_protocol_than_the_simple_one() {
    let mut spec = super::spec(&["\\startpipeline\nselect 1;\n\\endpipeline\n"]);
    assert!(Program::build(&spec).is_ok());
    spec.textual = true;
    assert_eq!(Program::build(&spec).unwrap_err().0.len(), 2);
}

#[test]
fn a_statement_takes_255_variables() {
    assert!(one(&format!("select {};", ":a ".repeat(255))).is_ok());
    assert!(problems(&format!("select {};", ":a ".repeat(256)))[0].contains("at most 255"));
}

proptest! {
    #[test]
    fn no_text_is_too_broken(text in "([ -~]|\n|\u{e4}|\\\\set |\\\\if |\\\\endif\n|\\\\gset |\\$\\$|/\\*|:a){0,40}") {
        let _ = one(&text);
        let _ = crate::sql::explain("test", &text);
    }

    #[test]
    fn places_lie_inside_the_text(text in "([ -~]|\n|\\\\[a-z]+ ){0,60}") {
        for problem in crate::sql::explain("test", &text).problems {
            prop_assert!(problem.place.line as usize <= text.matches('\n').count() + 1);
            prop_assert!(problem.place.column as usize <= text.len() + 1);
        }
    }
}

/// Each of these took minutes or gigabytes: what is read of a script grows as the script does, and no faster.
#[test]
fn a_long_script_takes_no_longer_than_its_length_says() {
    let many = |line: &str| line.repeat(50_000);
    let deep = many("\\if 1\n") + &many("\\endif\n");
    let explained = crate::sql::explain("deep", &deep);
    assert_eq!(explained.problems.len(), 1);
    assert_eq!(
        explained.problems[0].to_string(),
        "deep:101:1: conditions are nested deeper than 100; make them several scripts"
    );
    assert!(explained.commands.iter().all(|command| command.depth <= 100));
    let named: String = (0..65_000).map(|n| format!("\\set a{n} 1\n")).collect();
    let kept: String = (0..20_000).map(|n| format!("select {n} \\gset a{n}\n")).collect();
    for text in [many("select 1; "), many("\\sleep 1 us\n") + &many("\\set x random(1, 2)\n"), named + &kept] {
        let script = crate::sql::Script { name: "long".to_owned(), text: text.clone(), weight: 1 };
        let spec = crate::sql::Spec { scripts: vec![script], define: vec![], scale: 1, textual: true };
        assert!(Program::build(&spec).is_ok());
        assert!(crate::sql::explain("long", &text).problems.is_empty());
    }
}
