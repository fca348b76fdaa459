//! Inputs that somebody made to do harm, in many shapes: each ends with a word or an answer, within a gigabyte and ten seconds
//! of a processor, and touches nothing else.

use crate::program::{Program, Ran};
use rusqlite::Connection;
use rusqlite::types::Value;

/// What a column may be made to hold.
fn values() -> Vec<Value> {
    let numbers = [-1, 0, 1 << 31, 1 << 53, i64::MAX, i64::MIN].map(Value::Integer);
    let floats = [1e308, -1e308, f64::INFINITY].map(Value::Real);
    let texts = ["", "NaN", "\u{1b}[31m\u{7}", "<script>alert(1)</script>"].map(|text| Value::Text(text.to_owned()));
    let long = [Value::Text("A".repeat(1_000_000)), Value::Blob(vec![0xFF, 0xFE])];
    numbers.into_iter().chain(floats).chain(texts).chain(long).collect()
}

/// A number that meets every value in turn, whatever the number of columns.
const STEP: usize = 7;

fn columns(run: &Connection) -> Vec<(String, String)> {
    let sql = "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'";
    let mut found = run.prepare(sql).expect("a list");
    let rows = found.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("two names")).collect()
}

fn sound(ran: &Ran, what: &str) {
    let ended = matches!(ran.code, Some(0..=2)) && !ran.stderr.contains("panicked");
    assert!(ended, "{what}\n{:.2000}", ran.to_string());
    assert!(!ran.raw.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{what}: it reaches the terminal");
}

#[test]
fn a_run_file_with_any_value_in_any_column_is_shown_or_refused() {
    let program = Program::new();
    program.fine("run LAB --on old=scripted:service=100us,servers=8 --on new=scripted:service=80us,servers=8 --seed 7 --quiet -o x.prony");
    let good = std::fs::read(program.path("x.prony")).expect("a run");
    let all = columns(&Connection::open(program.path("x.prony")).expect("SQLite"));
    assert!(all.len() > 100, "{} columns", all.len());
    let values = values();
    let lines = ["show x.prony", "report x.prony -o x.html", "show x.prony --json", "list", "compare x.prony x.prony"];
    for (turn, (table, column)) in all.iter().enumerate() {
        std::fs::write(program.path("x.prony"), &good).expect("a file");
        let value = &values[turn * STEP % values.len()];
        let run = Connection::open(program.path("x.prony")).expect("SQLite");
        run.execute_batch("PRAGMA ignore_check_constraints = ON").expect("it may");
        // Some columns take no such value from anybody.
        let _ = run.execute(&format!("UPDATE {table} SET {column} = ?1"), [value]);
        drop(run);
        let line = lines[turn % lines.len()];
        sound(&program.bounded(line), &format!("{table}.{column} = {value:?}: {line}"));
        let files: Vec<String> = program.files().into_iter().filter(|name| name != "x.html").collect();
        assert_eq!(files, ["x.prony"], "{table}.{column}");
    }
}

#[test]
fn a_text_without_an_end_and_a_text_that_is_none_are_refused_by_all_who_read_one() {
    let program = Program::new();
    std::fs::write(program.path("binary.toml"), [0x80; 64]).expect("a file");
    let long = std::fs::File::create(program.path("long.toml")).expect("a file");
    long.set_len(4 << 30).expect("a hole");
    for name in ["binary.toml", "long.toml", "zero.toml", "folder.toml"] {
        match name {
            "zero.toml" => std::os::unix::fs::symlink("/dev/zero", program.path(name)).expect("a link"),
            "folder.toml" => std::fs::create_dir(program.path(name)).expect("a folder"),
            _ => {}
        }
        for line in [
            "check ./%",
            "plan ./%",
            "import pgbench ./%",
            "check sql --set script=./%",
            "predict flash --on model:./%",
        ] {
            let line = line.replace('%', name);
            let ran = program.bounded(&line);
            sound(&ran, &line);
            assert_eq!(ran.code, Some(2), "{line}\n{ran}");
        }
    }
}

#[test]
fn a_study_that_asks_for_what_nobody_can_have_is_refused_or_planned() {
    let program = Program::new();
    let study = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/lab.toml")).expect("a study");
    let many = (0..20_000).map(|n| format!("\"{} KiB\"", 4 * (n + 1))).collect::<Vec<_>>().join(", ");
    let changed = [
        study.replace("servers = 8", "servers = 18446744073709551615"),
        study.replace("servers = 8", "servers = -1"),
        study.replace("100 us", "1e300 s"),
        study.replace("100 us", "-1 us"),
        study.replace("outstanding = 32", "outstanding = 4294967295"),
        study.replace("outstanding = 32", "outstanding = 1e18"),
        study.replace("measure  = \"5 s\"", "measure = \"9e18 s\""),
        study.replace("measure  = \"5 s\"", "measure = \"1 ns\""),
        study.replace("measure  = \"5 s\"", "measure = \"5 s\"\nreplicates = 4294967295"),
        study.replace("[\"4 KiB\", \"64 KiB\"]", &format!("[{many}]")),
        study.replace("\"4 KiB\", \"64 KiB\"", "\"16 EiB\""),
        study.replace("4 KiB", "0 B"),
        study.replace("A laboratory", &"x".repeat(4_000_000)),
        study.replace("A laboratory", "\\u001b[31m"),
        study.replace("workload = [\"reads\"]", "workload = []"),
        study.replace("workload = [\"reads\"]", &format!("workload = [{}]", "\"reads\", ".repeat(50_000))),
        format!("{study}{}", "[".repeat(100_000)),
        format!("{study}\nx = {}1{}", "[".repeat(50_000), "]".repeat(50_000)),
        format!("{study}\nx = {}1{}", "{ a = ".repeat(20_000), " }".repeat(20_000)),
        study.replace("100%", "1e400%"),
        study.replace("random", &"random-".repeat(100_000)),
        "\u{feff}".repeat(1_000_000),
        "a.".repeat(1_000_000),
    ];
    for (turn, text) in changed.iter().enumerate() {
        program.write("x.toml", text);
        for line in ["check ./x.toml", "plan ./x.toml"] {
            sound(&program.bounded(line), &format!("study {turn}: {line}"));
        }
    }
}
