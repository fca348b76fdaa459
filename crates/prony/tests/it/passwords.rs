//! A password is in nothing that is kept or said, wherever it was given: in a study, on the command line, in the environment
//! or in a file.

use crate::house::House;
use crate::program::Program;
use observation::RunFacts;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

const PASSWORD: &str = "open-sesame-4711";

/// A server that lets its user in with any password, and where it listens.
fn server() -> Option<(House, String)> {
    let house = House::with_server("local:postgres")?;
    let found = std::fs::read_dir(house.program.path("cache")).expect("the cache").flatten();
    let folder = found.map(|entry| entry.path().join("server")).find(|path| path.is_dir()).expect("the bare server");
    house.program.write("one.sql", "SELECT 1;\n");
    Some((house, folder.join("run").display().to_string()))
}

fn study(url: &str) -> String {
    format!(
        "title = \"t\"\n# before: {url}\n[system.db]\nkind = \"postgres\"\nurl = \"{url}\"\n\
         [workload.sql]\nkind = \"sql\"\nscript = \"./one.sql\"\n\
         [[experiment]]\nname = \"e\"\nworkload = \"sql\"\nmeasure = \"1 s\"\nwarm_up = \"0 s\"\n"
    )
}

/// Runs it to its end and looks at all that was said and made.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(!text.contains(PASSWORD), "the password is said:\n{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    text
}

fn kept(program: &Program, but: &[&str]) {
    for name in program.files().iter().filter(|name| !but.contains(&name.as_str())) {
        let bytes = std::fs::read(program.path(name)).unwrap_or_default();
        let found = bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
        assert!(!found, "the password is in {name}");
    }
}

fn own(path: PathBuf, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("the file is ours");
}

#[test]
fn a_password_is_kept_nowhere_and_said_nowhere_whichever_way_it_came() {
    let Some((house, folder)) = server() else { return };
    let (program, place) = (&house.program, format!("/postgres?host={folder}"));
    program.write("in.toml", &study(&format!("postgres://prony:{PASSWORD}@{place}")));
    program.write("without.toml", &study(&format!("postgres://prony@{place}")));
    program.write("secret", &format!("{PASSWORD}\n"));
    program.write("pgpass", &format!("*:*:*:*:{PASSWORD}\n"));
    own(program.path("secret"), 0o600);
    own(program.path("pgpass"), 0o600);
    let typed = format!("./without.toml --on 'one=postgres://prony:{PASSWORD}@{place}'");
    let ways: [(&str, Option<(&str, String)>); 5] = [
        ("./in.toml", None),
        (&typed, None),
        ("./without.toml --password-file secret", None),
        ("./without.toml", Some(("PGPASSWORD", PASSWORD.to_owned()))),
        ("./without.toml", Some(("PGPASSFILE", program.path("pgpass").display().to_string()))),
    ];
    for (number, (way, variable)) in ways.into_iter().enumerate() {
        let run = |line: &str| {
            let mut command = program.command(line);
            command.envs(variable.clone());
            said(&mut command)
        };
        let warned = run(&format!("run {way} --json --html {number}.html -o {number}.prony"));
        assert_eq!(warned.contains("--password-file keeps it to yourself"), way.contains("--on"), "{warned}");
        run(&format!("check {way} --json"));
        run(&format!("plan {way} --json"));
        for command in ["show", "show --json", "show --csv", "report -o again.html", "redact"] {
            said(&mut program.command(&format!("{command} {number}.prony")));
        }
        said(&mut program.command("list --json"));
        kept(program, &["in.toml", "secret", "pgpass"]);
    }
}

#[test]
fn a_run_of_an_older_version_that_holds_a_password_is_shown_without_it() {
    let program = Program::new();
    program.fine("run LAB --seed 7 --quiet -o new.prony");
    let facts = store::RunFile::open(&program.path("new.prony")).and_then(|file| file.facts()).expect("it is read");
    let study_text = format!("{}\n# postgres://me:{PASSWORD}@host/db\n", facts.study_text);
    let old = RunFacts { study_text, ..facts };
    let file = store::RunFile::create(&program.path("old.prony"), &old, 1 << 16).expect("it is made");
    file.close().expect("it is closed");
    for command in ["show --json", "report -o old.html", "compare --json old.prony"] {
        let output = program.command(&format!("{command} old.prony")).output().expect("it starts");
        let text = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&text).contains(PASSWORD), "{command} shows the password");
    }
    kept(&program, &["old.prony"]);
}

#[test]
fn no_slip_in_a_study_or_an_option_shows_the_password() {
    let program = Program::new();
    let whole = study(&format!("postgres://me:{PASSWORD}@db.example:5432/db?sslmode=disable"));
    // The part of the text in which the address stands, with one letter missing or one too many.
    let at = whole.find("url =").expect("the key");
    let letters: Vec<usize> = (at..at + 60).step_by(3).filter(|at| !PASSWORD.contains(&whole[*at..=*at])).collect();
    for (number, at) in letters.into_iter().enumerate() {
        let slip = if number % 2 == 0 { "" } else { "\"" };
        program.write("slip.toml", &format!("{}{slip}{}", &whole[..at], &whole[at + 1..]));
        for command in ["check", "check --json", "plan"] {
            let ran = program.run(&format!("{command} ./slip.toml"));
            assert!(!ran.raw.contains(PASSWORD) && !ran.stderr.contains(PASSWORD), "at {at}\n{ran}");
        }
    }
    for option in [
        "--on 'postgres:/me:S@h/d'",
        "--on 'postgres.x://me:S@h/d'",
        "--on 'postgress://me:S@h/d'",
        "--set 'url=postgres://me:S@h/d'",
        "--set 'measure=postgres://me:S@h/d'",
        "--only 'postgres://me:S@h/d'",
        "--fail-if 'postgres://me:S@h/d'",
    ] {
        let option = option.replace('S', PASSWORD);
        for (command, end) in [("check", ""), ("check", " --json"), ("plan", ""), ("run", "")] {
            if option.starts_with("--fail-if") && command != "run" {
                continue;
            }
            let ran = program.run(&format!("{command} LAB {option}{end}"));
            assert!(!ran.raw.contains(PASSWORD) && !ran.stderr.contains(PASSWORD), "{option}\n{ran}");
            assert_eq!(ran.code, Some(2), "{option}\n{ran}");
        }
    }
}

/// One who pretends to be a PostgreSQL, asks for the password itself, and keeps all that he is told.
fn listener() -> (u16, std::sync::Arc<std::sync::Mutex<Vec<u8>>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let heard = std::sync::Arc::<std::sync::Mutex<Vec<u8>>>::default();
    let keeps = heard.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut part = [0; 1024];
            let _ = stream.read(&mut part);
            let _ = stream.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]);
            let count = stream.read(&mut part).unwrap_or(0);
            keeps.lock().expect("no test fails here").extend_from_slice(&part[..count]);
        }
    });
    (port, heard)
}

#[test]
fn a_study_does_not_have_a_password_sent_to_a_server_of_its_authors() {
    let (port, heard) = listener();
    let program = Program::new();
    let url = format!("postgres://me@127.0.0.1:{port}/shared?cleartext_password=true&sslmode=disable");
    program.write("one.sql", "SELECT 1;\n").write("theirs.toml", &study(&url));
    program.write("secret", &format!("{PASSWORD}\n")).write("pgpass", &format!("*:*:*:*:{PASSWORD}\n"));
    own(program.path("secret"), 0o600);
    own(program.path("pgpass"), 0o600);
    let told =
        || heard.lock().expect("no test fails here").windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes());
    let run = |line: &str| {
        let mut command = program.command(line);
        command.env("PGPASSWORD", PASSWORD).env("PGPASSFILE", program.path("pgpass"));
        let output = command.output().expect("it starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for line in ["run ./theirs.toml", "run ./theirs.toml --password-file secret", "db check ./theirs.toml"] {
        let said = run(line);
        assert!(!told(), "{line}: {said}");
    }
    assert!(run("run ./theirs.toml").contains("a server that --on names on this command line"));
    // Named by the user, it is told, as the address says.
    run(&format!("run ./theirs.toml --on '{url}'"));
    assert!(told());
}
