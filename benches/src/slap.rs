//! Sessions on MariaDB beside mariadb-slap: a point select and a short transaction, the same texts on the same server, turn by turn.
//!
//! The server is the reader's own: `PRONY_BENCH_MARIADB` is its Unix socket, whose root needs no password. A table is made there:
//! `bench.a` with 100,000 rows.

use crate::fio::Delivered;
use crate::{Settings, prony, row, turns};
use std::ffi::OsStr;
use std::process::Command;

const TABLE: &str = "CREATE DATABASE IF NOT EXISTS bench; CREATE OR REPLACE TABLE bench.a \
    (id INT PRIMARY KEY, v INT NOT NULL, f CHAR(84) NOT NULL) ENGINE=InnoDB SELECT seq id, 0 v, '' f FROM mysql.seq_1_to_100000";

/// Both scripts, with the statements of a transaction, at 1 and 32 sessions.
pub fn measure(settings: &Settings) {
    let Ok(socket) = std::env::var("PRONY_BENCH_MARIADB") else {
        println!("\nslap: skipped, PRONY_BENCH_MARIADB names no socket of a MariaDB");
        return;
    };
    crate::process::run(client("mariadb", &socket).args(["-e", TABLE]));
    for (script, statements) in [("point.sql", 1.0), ("read-write.sql", 5.0)] {
        for sessions in [1, 32] {
            compare(settings, &socket, (script, statements), sessions);
        }
    }
}

fn client(program: &str, socket: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--no-defaults", "-uroot", "-S", socket]);
    command
}

fn compare(settings: &Settings, socket: &str, (script, statements): (&str, f64), sessions: u32) {
    println!("\nMariaDB, {script}, {sessions} sessions, simple protocol");
    let ours = || ours(settings, socket, script, sessions);
    let asked = (ours().per_second * f64::from(settings.seconds) * statements).round();
    let pairs = turns(settings.pairs, ours, || theirs(socket, script, sessions, (asked, statements)));
    let over =
        |figure: fn(&Delivered) -> f64| -> Vec<f64> { pairs.iter().map(|(a, b)| figure(a) / figure(b)).collect() };
    row("rate over mariadb-slap", &over(|d| d.per_second), "", "");
    row("client CPU a transaction over mariadb-slap", &over(|d| d.user_us + d.system_us), "", "");
    row("our rate", &pairs.iter().map(|(a, _)| a.per_second).collect::<Vec<_>>(), "/s", "");
    row("our client CPU", &pairs.iter().map(|(a, _)| a.user_us + a.system_us).collect::<Vec<_>>(), "us/tx", "");
}

fn ours(settings: &Settings, socket: &str, script: &str, sessions: u32) -> Delivered {
    let asked = [
        format!("script={}", prony::studies().join(script).display()),
        format!("sessions={sessions}"),
        "protocol=simple".to_owned(),
        "profile=false".to_owned(),
        "warm_up=1s".to_owned(),
        format!("measure={}s", settings.seconds),
    ];
    let url = format!("mysql://root@/bench?socket={socket}");
    prony::delivered(&prony::run(&settings.dir, &["sql", "--on", &url].map(OsStr::new), &asked).0)
}

/// mariadb-slap carries out so many statements and says how long it took; its CPU is that of the whole process.
fn theirs(socket: &str, script: &str, sessions: u32, (asked, statements): (f64, f64)) -> Delivered {
    let mut command = client("mariadb-slap", socket);
    command.args(["--create-schema=bench", "--no-drop", "--delimiter=;", "--csv"]);
    command.arg(format!("--query={}", prony::studies().join(script).display()));
    command.arg(format!("--concurrency={sessions}")).arg(format!("--number-of-queries={asked}"));
    let finished = crate::process::run(&mut command);
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    let seconds: f64 = text.split(',').nth(2).and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
    let done = asked / statements;
    Delivered {
        per_second: done / seconds,
        user_us: finished.user_s * 1e6 / done,
        system_us: finished.system_s * 1e6 / done,
    }
}
