//! What is said when a database cannot be used; no password is ever part of it, and nothing of the user's is touched.

use crate::house::House;
use crate::program::{Program, Ran};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

const PASSWORD: &str = "open-sesame-4711";

/// Refused with exit code 2 and these words.
fn refused(program: &Program, line: &str, words: &[&str]) {
    let ran = program.run(line);
    assert_eq!(ran.code, Some(2), "prony {line}\n{ran}");
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is not said\n{ran}");
    }
    keeps_the_secret(program, &ran);
}

/// The password is in nothing that was said, and in no file that was made.
fn keeps_the_secret(program: &Program, ran: &Ran) {
    assert!(!ran.raw.contains(PASSWORD) && !ran.stderr.contains(PASSWORD), "the password is shown\n{ran}");
    for name in program.files() {
        let bytes = std::fs::read(program.path(&name)).unwrap_or_default();
        let found = bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
        assert!(!found, "the password is in {name}");
    }
}

/// A port of this machine on which nobody listens.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

#[test]
fn a_server_that_is_not_there_is_a_refused_connection() {
    let program = Program::new();
    for scheme in ["postgres", "mysql"] {
        let line = format!("run brokerage --on {scheme}://me:{PASSWORD}@127.0.0.1:{}/db -o x.prony", closed_port());
        refused(&program, &line, &["no connection", "127.0.0.1", "hint: "]);
    }
}

/// A server that speaks PostgreSQL just long enough to ask for a password and not to like it.
fn doorkeeper() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for guest in listener.incoming().flatten() {
            turn_away(guest);
        }
    });
    port
}

fn turn_away(mut guest: TcpStream) {
    let mut said = [0; 1024];
    let _ = guest.read(&mut said);
    // Whoever asks for TLS first is told that there is none, and begins anew.
    if said[4..8] == 80_877_103_u32.to_be_bytes() {
        let _ = guest.write_all(b"N");
        let _ = guest.read(&mut said);
    }
    let _ = guest.write_all(b"R\0\0\0\x0c\0\0\0\x05salt");
    let _ = guest.read(&mut said);
    let fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user \"me\"\0\0";
    let mut told = vec![b'E'];
    told.extend((fields.len() as u32 + 4).to_be_bytes());
    told.extend(fields);
    let _ = guest.write_all(&told);
}

#[test]
fn a_wrong_password_is_said_without_the_password() {
    let program = Program::new();
    let line = format!("run brokerage --on postgres://me:{PASSWORD}@127.0.0.1:{}/db -o x.prony", doorkeeper());
    refused(&program, &line, &["does not let this user in", "password authentication failed", "hint: "]);
}

#[test]
fn a_target_that_is_mistyped_is_refused_with_what_may_be_there() {
    let program = Program::new();
    for target in ["local:oracle", "sqllite:", &format!("postgress://me:{PASSWORD}@host/db")] {
        refused(&program, &format!("run brokerage --on {target}"), &["local:postgres"]);
    }
}

#[test]
fn a_file_of_somebody_else_is_refused_and_left_untouched() {
    let program = Program::new();
    // A run file is a database of SQLite, too, but no data set.
    program.fine("run LAB --seed 7 --quiet -o kept.prony");
    let before = std::fs::read(program.path("kept.prony")).expect("the file");
    for command in ["run", "db fill"] {
        let line = format!("{command} brokerage --on sqlite:kept.prony --set customers=50 --set days=1");
        refused(&program, &line, &["was not made by Prony; it was left untouched", "hint: "]);
    }
    let after = std::fs::read(program.path("kept.prony")).expect("the file");
    assert!(before == after, "the file was changed");
}

#[test]
fn a_setting_that_a_server_does_not_know_is_named() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let sets = "--set customers=50 --set days=1 --set server=no_such_setting=1 --allow-server-settings";
    refused(&house.program, &house.line("run", sets), &["no_such_setting", "hint: "]);
    let told = house.program.run("db up local:postgres --server no_such_setting=1 --allow-server-settings");
    assert!(told.code == Some(2) && told.stderr.contains("no_such_setting"), "{told}");
}

#[test]
fn a_study_gives_a_private_server_only_what_moves_its_performance() {
    let program = Program::new();
    for (on, setting) in [
        ("local:postgres", "archive_command=touch owned"),
        ("local:postgres", "shared_preload_libraries=x"),
        ("local:mariadb", "bind-addres=0.0.0.0;skip-grant-table=1"),
        ("local:mariadb", "plugin_load_add=x"),
    ] {
        let name = setting.split('=').next().unwrap_or_default();
        for command in ["check", "plan", "run", "db fill"] {
            let told = program.refused(&format!("{command} brokerage --on {on} --set 'server={setting}'"));
            assert!(told.contains(name) && told.contains("--allow-server-settings"), "{told}");
        }
        let told = program.refused(&format!("db up {on} --server '{setting}'"));
        assert!(told.contains(name) && told.contains("--allow-server-settings"), "{told}");
        program.fine(&format!("check brokerage --on {on} --set 'server={setting}' --allow-server-settings"));
    }
    for (kind, setting, named) in [
        ("postgres", "shared_buffers=1GB\narchive_command=x", "one line, got \"1GB\\n"),
        ("mariadb", "innodb_buffer_pool_size=1G\narchive=x", "one line, got \"1G\\n"),
        ("sqlite", "shared_buffers=1GB", "SQLite's settings here are journal_mode, synchronous"),
    ] {
        let study = format!(
            "[system.target]\nkind = \"{kind}\"\n\n[workload.w]\nkind = \"brokerage\"\n\n[[experiment]]\nname = \"e\"\n\
             workload = \"w\"\nserver = {setting:?}\n"
        );
        program.write("mine.toml", &study);
        for command in ["check", "plan"] {
            let told = program.refused(&format!("{command} mine.toml"));
            assert!(told.contains(named) && told.contains("mine.toml:10:"), "{told}");
        }
    }
    let fine = "--on local:postgres --set 'server=shared_buffers=1GB; max-connections=50'";
    program.fine(&format!("check brokerage {fine}"));
}
