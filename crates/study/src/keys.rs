//! The table of all keys.
//!
//! The one idea: this is the only place where a key's name, limits and default are written.
//!
//! What it does not do: keys that have one fixed place and are never varied (title, paths, names) are read where they
//! stand.

use crate::key::{Group, Key, Kind};
use units::{Bytes, Nanos};

const DAY: Nanos = Nanos::from_secs(86_400);
const TIB: u64 = 1 << 40;

/// Every key that may be set, varied, or given behind `--set`, in the order of the reference page.
pub const KEYS: &[Key] = &[
    Key {
        name: "size",
        group: Group::System,
        kind: Kind::Bytes { min: Bytes::mib(1), max: Bytes(1024 * TIB) },
        default: "(1 GiB for scratch files; the whole device)",
        help: "Size of each module: of a scratch file, or of the part of a device that is used, from its start.",
    },
    Key {
        name: "modules",
        group: Group::System,
        kind: Kind::Count { min: 1, max: 1024 },
        default: "(every device or folder that the system names)",
        help: "How many modules take part: files or devices that are loaded at the same time.",
    },
    Key {
        name: "fill",
        group: Group::Opening,
        kind: Kind::Flag,
        default: "(true; false for a device on which every trial only reads)",
        help: "Whether modules are filled before they are first read. A device that is not filled is opened for reading only: \
               it needs no consent, may be mounted, and is read as it is found.",
    },
    Key {
        name: "pattern",
        group: Group::Block,
        kind: Kind::Choice(&["random", "random-once", "sequential"]),
        default: "random",
        help: "Order of the offsets: independent draws; every block once before any comes again; or one after the other.",
    },
    Key {
        name: "offsets",
        group: Group::Block,
        kind: Kind::Offsets,
        default: "uniform",
        help: "Which offsets a random pattern prefers: all alike, Zipf's law, or a hot spot of some blocks.",
    },
    Key {
        name: "transfer",
        group: Group::Block,
        kind: Kind::Transfers { min: Bytes(512), max: Bytes::mib(64) },
        default: "4 KiB",
        help: "Bytes that one operation moves; a mixture is written `70% 4 KiB + 30% 64 KiB`.",
    },
    Key {
        name: "read",
        group: Group::Block,
        kind: Kind::Share { min: 0.0, max: 1.0 },
        default: "100%",
        help: "Share of the operations that read; the rest write.",
    },
    Key {
        name: "shift",
        group: Group::Block,
        kind: Kind::Bytes { min: Bytes(0), max: Bytes::mib(64) },
        default: "0 B",
        help: "Distance by which every offset is shifted off its natural alignment.",
    },
    Key {
        name: "range",
        group: Group::Block,
        kind: Kind::Share { min: 0.0001, max: 1.0 },
        default: "100%",
        help: "Share of each module that is used, from its start: the active range.",
    },
    Key {
        name: "compressible",
        group: Group::Block,
        kind: Kind::Share { min: 0.0, max: 1.0 },
        default: "0%",
        help: "Share of every written block that compresses away.",
    },
    Key {
        name: "duplicate",
        group: Group::Block,
        kind: Kind::Share { min: 0.0, max: 1.0 },
        default: "0%",
        help: "Share of the written blocks whose payload repeats another block's.",
    },
    Key {
        name: "operations",
        group: Group::Block,
        kind: Kind::CountOr { min: 1, max: 1 << 40, word: "unlimited" },
        default: "unlimited",
        help: "A fixed amount of work: the stream ends after so many operations, and `measure` is the longest it may take.",
    },
    Key {
        name: "width",
        group: Group::Files,
        kind: Kind::Count { min: 1, max: 4096 },
        default: "1",
        help: "How many copies of the loop run at once, each on files of its own.",
    },
    Key {
        name: "loops",
        group: Group::Files,
        kind: Kind::Count { min: 1, max: 1_000_000 },
        default: "1",
        help: "Times that each copy goes round: create a file, copy it, read the copy.",
    },
    Key {
        name: "file",
        group: Group::Files,
        kind: Kind::Bytes { min: Bytes(1), max: Bytes(TIB) },
        default: "10 MB",
        help: "Size of a file.",
    },
    Key {
        name: "block",
        group: Group::Files,
        kind: Kind::Bytes { min: Bytes(512), max: Bytes::mib(64) },
        default: "64 KiB",
        help: "Bytes that one system call moves.",
    },
    Key {
        name: "preset",
        group: Group::Brokerage,
        kind: Kind::Choice(&["desk", "house"]),
        default: "desk",
        help: "Shape of the brokerage house: `desk` has 12 tables and 6 transactions, `house` 33 tables and all of them.",
    },
    Key {
        name: "customers",
        group: Group::Brokerage,
        kind: Kind::Count { min: 10, max: 10_000_000 },
        default: "1000",
        help: "Customers of the data set; everything else scales with them.",
    },
    Key {
        name: "days",
        group: Group::Brokerage,
        kind: Kind::Count { min: 1, max: 3_650 },
        default: "5",
        help: "Trading days of history: about 58 trades for each customer and day.",
    },
    Key {
        name: "market",
        group: Group::Brokerage,
        kind: Kind::Choice(&["by-time", "by-count"]),
        default: "by-time",
        help: "When the exchange answers an order: after a time, or after a count of transactions, which one session repeats exactly.",
    },
    Key {
        name: "maintenance",
        group: Group::Brokerage,
        kind: Kind::Flag,
        default: "true",
        help: "Run the once-a-minute maintenance beside the mix of the house.",
    },
    Key {
        name: "procedures",
        group: Group::Brokerage,
        kind: Kind::Flag,
        default: "false",
        help: "Carry each transaction out as one call of a stored procedure in the data set's schema, where the engine has \
               them: PostgreSQL and MariaDB.",
    },
    Key {
        name: "script",
        group: Group::Sql,
        kind: Kind::Text(
            "a file of pgbench's script language, `tpcb-like`, `select-only`, or several as `a.sql@3 + b.sql`",
        ),
        default: "tpcb-like",
        help: "Which scripts make the transactions, with their weights.",
    },
    Key {
        name: "define",
        group: Group::Sql,
        kind: Kind::Text("NAME=VALUE, several with `;` between"),
        default: "",
        help: "Variables of the scripts that are set from outside, as with -D.",
    },
    Key {
        name: "scale",
        group: Group::Sql,
        kind: Kind::Count { min: 1, max: 1_000_000 },
        default: "1",
        help: "The `:scale` of the scripts, and of the data that comes with built-in ones.",
    },
    Key {
        name: "job",
        group: Group::Rows,
        kind: Kind::Choice(&["update", "copy"]),
        default: "update",
        help: "What each job does with its own table, round and round: read rows for update and update them one by one, or \
               copy blocks of rows into a second table. A session is a job.",
    },
    Key {
        name: "rows",
        group: Group::Rows,
        kind: Kind::Count { min: 1, max: 1_000_000_000 },
        default: "1000000",
        help: "Rows of each job's table.",
    },
    Key {
        name: "row",
        group: Group::Rows,
        kind: Kind::Bytes { min: Bytes(24), max: Bytes(32 << 10) },
        default: "200 B",
        help: "Bytes of a row's columns.",
    },
    Key {
        name: "read_first",
        group: Group::Rows,
        kind: Kind::Flag,
        default: "false",
        help: "Read each row plainly before it is read for update.",
    },
    Key {
        name: "commit_every",
        group: Group::Rows,
        kind: Kind::Count { min: 1, max: 1_000_000 },
        default: "1",
        help: "Rows that an update job changes between two commits; they are one operation. A copy commits each block.",
    },
    Key {
        name: "copy_block",
        group: Group::Rows,
        kind: Kind::Bytes { min: Bytes(8 << 10), max: Bytes(256 << 10) },
        default: "64 KiB",
        help: "Bytes of rows that one statement copies; a block is one operation.",
    },
    Key {
        name: "threads",
        group: Group::Session,
        kind: Kind::Count { min: 1, max: 1024 },
        default: "1",
        help: "Threads of the generator that serve the sessions, where one thread can serve many.",
    },
    Key {
        name: "protocol",
        group: Group::Session,
        kind: Kind::Choice(&["prepared", "extended", "simple"]),
        default: "prepared",
        help: "How statements travel: parsed once a session, parsed each time, or as text with the values in it.",
    },
    Key {
        name: "pipeline",
        group: Group::Session,
        kind: Kind::Flag,
        default: "true",
        help: "Send calls that do not depend on each other together, where the protocol can.",
    },
    Key {
        name: "isolation",
        group: Group::Session,
        kind: Kind::Choice(&["default", "read-committed", "repeatable-read", "serializable"]),
        default: "default",
        help: "How far transactions are kept apart; `default` leaves the server's choice.",
    },
    Key {
        name: "tries",
        group: Group::Session,
        kind: Kind::Count { min: 1, max: 1_000 },
        default: "10",
        help: "How often a transaction is tried at most when the server aborts it for a conflict or a deadlock.",
    },
    Key {
        name: "server",
        group: Group::Session,
        kind: Kind::Text("SETTING=VALUE, several with `;` between"),
        default: "",
        help: "Settings of a private server or of SQLite, by their own names; as a factor they are compared.",
    },
    Key {
        name: "check",
        group: Group::Session,
        kind: Kind::Flag,
        default: "true",
        help: "Check the invariants of the data and the ledger of acknowledged commits after each trial.",
    },
    Key {
        name: "profile",
        group: Group::Session,
        kind: Kind::Flag,
        default: "true",
        help: "Count what each statement costs the database; `false` leaves the server without its counting.",
    },
    Key {
        name: "direct",
        group: Group::Access,
        kind: Kind::Flag,
        default: "true",
        help: "Past the page cache (O_DIRECT). File work goes through the cache unless it says otherwise.",
    },
    Key {
        name: "sync",
        group: Group::Access,
        kind: Kind::Sync,
        default: "never",
        help: "When written data is made durable: never during the trial, with each write, or after every N writes. For \
               files, `each` syncs a file before it is closed.",
    },
    Key {
        name: "driver",
        group: Group::Access,
        kind: Kind::Choice(&["auto", "io_uring", "plain"]),
        default: "auto",
        help: "Which road operations take: io_uring where it is allowed, io_uring or nothing, or threads with pread.",
    },
    Key {
        name: "poll",
        group: Group::Access,
        kind: Kind::Flag,
        default: "false",
        help: "Poll the device for completions instead of waiting for its interrupt.",
    },
    Key {
        name: "workers",
        group: Group::Access,
        kind: Kind::Count { min: 1, max: 1024 },
        default: "1",
        help: "Threads of the generator that share the load.",
    },
    Key {
        name: "pin",
        group: Group::Access,
        kind: Kind::Flag,
        default: "false",
        help: "Keep each worker on a core of its own.",
    },
    Key {
        name: "priority",
        group: Group::Access,
        kind: Kind::Priority,
        default: "off",
        help: "I/O priority class and level of the stream; `off` leaves the kernel's choice.",
    },
    Key {
        name: "validate",
        group: Group::Access,
        kind: Kind::Flag,
        default: "false",
        help: "Check every read against the stamps that Prony wrote.",
    },
    Key {
        name: "outstanding",
        group: Group::Load,
        kind: Kind::Count { min: 1, max: 65_536 },
        default: "1",
        help: "Closed load: operations in flight all the time.",
    },
    Key {
        name: "per",
        group: Group::Load,
        kind: Kind::Choice(&["system", "module"]),
        default: "system",
        help: "Whether `outstanding` counts for the whole system or for each module.",
    },
    Key {
        name: "sessions",
        group: Group::Load,
        kind: Kind::Count { min: 1, max: 10_000 },
        default: "1",
        help: "Sessions on the database. Without `users` and `rate` each starts its next transaction when its last has ended.",
    },
    Key {
        name: "users",
        group: Group::Load,
        kind: Kind::CountOr { min: 1, max: 1_000_000, word: "off" },
        default: "off",
        help: "Users who think (`think`) between transactions and share the sessions; waiting for a session counts.",
    },
    Key {
        name: "think",
        group: Group::Load,
        kind: Kind::Duration { min: Nanos::ZERO, max: DAY },
        default: "0 s",
        help: "Closed load: pause of a slot between the end of one operation and the start of its next.",
    },
    Key {
        name: "think_times",
        group: Group::Load,
        kind: Kind::Choice(&["constant", "exponential"]),
        default: "constant",
        help: "Whether every pause is the same or is drawn from an exponential with that mean.",
    },
    Key {
        name: "rate",
        group: Group::Load,
        kind: Kind::Rate { max: 100e6 },
        default: "(none: the load is closed)",
        help: "Open load: operations that arrive each second, whatever the system does.",
    },
    Key {
        name: "arrivals",
        group: Group::Load,
        kind: Kind::Choice(&["poisson", "constant"]),
        default: "poisson",
        help: "Open load: independent arrivals, or all gaps alike.",
    },
    Key {
        name: "slots",
        group: Group::Load,
        kind: Kind::Count { min: 1, max: 65_536 },
        default: "256",
        help: "Open load: how many may be in flight at once; arrivals beyond wait, and the wait counts as response.",
    },
    Key {
        name: "pacing",
        group: Group::Load,
        kind: Kind::Choice(&["sleep", "spin"]),
        default: "sleep",
        help: "Open load: how the driver waits for the next arrival; spinning is exact and burns a core.",
    },
    Key {
        name: "ramp",
        group: Group::Load,
        kind: Kind::Duration { min: Nanos::ZERO, max: DAY },
        default: "0 s",
        help: "Time in which the load grows from nothing to all; it should lie within the warm-up.",
    },
    Key {
        name: "precondition",
        group: Group::State,
        kind: Kind::Precondition,
        default: "off",
        help: "Write each module so many times over, in order, before every trial; `until steady` then runs the trial's own \
               workload in rounds of 60 s until five agree, at most 25.",
    },
    Key {
        name: "trim",
        group: Group::State,
        kind: Kind::Flag,
        default: "false",
        help: "Tell the device that the modules hold nothing, and fill them again, before every trial.",
    },
    Key {
        name: "refill",
        group: Group::State,
        kind: Kind::Flag,
        default: "false",
        help: "Fill every module again before every trial.",
    },
    Key {
        name: "cache",
        group: Group::State,
        kind: Kind::Choice(&["as-left", "cold", "warm"]),
        default: "as-left",
        help: "The page cache at the start of a trial: as the last trial left it, dropped, or read once in full.",
    },
    Key {
        name: "state",
        group: Group::State,
        kind: Kind::Choice(&["left", "restore"]),
        default: "left",
        help: "What a trial finds in a database: the data as the last trial left it, or the data set brought back.",
    },
    Key {
        name: "checkpoints",
        group: Group::State,
        kind: Kind::Choice(&["cycles", "force", "leave"]),
        default: "cycles",
        help: "Checkpoints of a database: force one before the warm-up and cut a window that holds whole cycles of them to \
               these; force one and take the window as asked for; or force none.",
    },
    Key {
        name: "settle",
        group: Group::State,
        kind: Kind::Duration { min: Nanos::ZERO, max: DAY },
        default: "0 s",
        help: "Pause before the warm-up, in which burst credit returns and the device tidies up.",
    },
    Key {
        name: "warm_up",
        group: Group::Phases,
        kind: Kind::Duration { min: Nanos::ZERO, max: DAY },
        default: "(a fifth of `measure`, from 200 ms to 10 s; none for fixed work)",
        help: "Load before the window; recorded, not counted.",
    },
    Key {
        name: "measure",
        group: Group::Phases,
        kind: Kind::Duration { min: Nanos::from_millis(100), max: Nanos::from_secs(30 * 86_400) },
        default: "(60 s; 10 min at the longest for fixed work)",
        help: "The measured window; for fixed work the longest time that the work may take.",
    },
    Key {
        name: "interval",
        group: Group::Phases,
        kind: Kind::Duration { min: Nanos::from_millis(1), max: Nanos::from_secs(3600) },
        default: "(100 ms up to 10 s of `measure`, then longer, so that a trial has at most 600)",
        help: "Length of the intervals that a trial is recorded in; `measure` and `warm_up` are whole multiples of it.",
    },
    Key {
        name: "round",
        group: Group::Phases,
        kind: Kind::Duration { min: Nanos::from_millis(100), max: DAY },
        default: "(a fifth of `measure`, at least 1 s)",
        help: "Length of the rounds that the steady-state rule compares.",
    },
    Key {
        name: "drain",
        group: Group::Phases,
        kind: Kind::Duration { min: Nanos::ZERO, max: Nanos::from_secs(3600) },
        default: "10 s",
        help: "How long operations that are still in flight may take to end after the window before they are censored.",
    },
    Key {
        name: "replicates",
        group: Group::Phases,
        kind: Kind::CountOr { min: 1, max: 1000, word: "auto" },
        default: "auto",
        help: "Repeats of every trial. `auto` is one for a single system; for two or more it is a pilot of four pairs and then, \
               where the primary metric is read, as many as find a difference of the margin in 80% of all cases.",
    },
    Key {
        name: "replicates_max",
        group: Group::Phases,
        kind: Kind::Count { min: 4, max: 1000 },
        default: "32",
        help: "The most pairs that `replicates = \"auto\"` may run.",
    },
];

/// The key of that name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_text_that_the_key_itself_accepts() {
        for key in KEYS.iter().filter(|key| !key.default.starts_with('(')) {
            assert!(key.kind.parse(key.default).is_ok(), "{}: {}", key.name, key.default);
        }
    }

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
    }

    #[test]
    fn a_refusal_states_the_range_and_the_value() {
        let refusal = find("modules").unwrap().kind.parse("0").unwrap_err();
        assert_eq!(refusal, "a whole number from 1 to 1024, got `0`");
        let refusal = find("measure").unwrap().kind.parse("60").unwrap_err();
        assert!(refusal.contains("has no unit") && refusal.contains("ms, s, min"), "{refusal}");
    }
}
