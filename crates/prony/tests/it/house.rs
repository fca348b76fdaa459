//! A place for the databases of one test: a cache folder of its own, and an end of every private server in it.
//!
//! The one idea: servers outlive the program that started them, so this value ends them when it goes, also when the test fails.

use crate::program::{Program, skipped};
use crate::schema::hold;
use observation::{Event, EventKind};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A program with databases.
pub struct House {
    pub program: Program,
    /// What `--on` names.
    pub on: &'static str,
}

impl House {
    /// One for an embedded or no database.
    pub fn new(on: &'static str) -> House {
        let program = Program::new();
        // Servers of root run as somebody else, who must be able to pass.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(program.dir(), open).expect("the folder is ours");
        House { program, on }
    }

    /// One for a private server; none, said and counted, where its package is not installed.
    pub fn with_server(on: &'static str) -> Option<House> {
        let house = House::new(on);
        let ran = house.program.run(&format!("db up {on}"));
        if ran.stderr.contains("is not installed") {
            skipped(&format!("no package of {on}"));
            return None;
        }
        assert_eq!(ran.code, Some(0), "db up {on}\n{ran}");
        Some(house)
    }

    /// A command line with the database in it. A run leaves out the search for the highest rate unless it says otherwise.
    pub fn line(&self, command: &str, rest: &str) -> String {
        let search = if command == "run" && !rest.contains("highest_rate") { "--set highest_rate=off " } else { "" };
        format!("{command} brokerage --on {} {search}{rest}", self.on)
    }

    /// Runs the study on a small data set, and gives the JSON of the run, which is kept in `x.prony`.
    pub fn run(&self, sets: &str) -> serde_json::Value {
        self.program.json(&self.line("run", &format!("{sets} --json --quiet -o x.prony")))
    }

    /// The events of a trial in `x.prony`.
    pub fn events(&self, trial: u32) -> Vec<Event> {
        let file = store::RunFile::open(&self.program.path("x.prony")).expect("the run file opens");
        file.observations(trial).expect("the trial is there").events
    }

    /// Holds what the checks after a trial said: every invariant holds, and every acknowledged order is there.
    pub fn holds_after(&self, trial: u32) {
        let events = self.events(trial);
        let says = |start: &str, end: &str| {
            events
                .iter()
                .any(|event| event.kind == EventKind::Note && event.text.starts_with(start) && event.text.contains(end))
        };
        assert!(says("all ", "checks of the data hold"), "{events:#?}");
        assert!(says("ledger: ", "orders are as acknowledged"), "{events:#?}");
        assert!(events.iter().all(|event| event.kind != EventKind::Damage), "{events:#?}");
    }

    /// A command of the pair in `pair` that comes to its end, with what it tells.
    pub fn pair(&self, line: &str) -> serde_json::Value {
        let ran = self.program.run(&format!("pair {line} --json"));
        assert_eq!(ran.code, Some(0), "pair {line}\n{ran}");
        let told = ran.json();
        hold(&told);
        told
    }

    /// Numbers of the first processes of the servers that hold data sets, from files of this name.
    pub fn server_processes(&self, file: &str) -> Vec<i32> {
        let mut found = Vec::new();
        find(&self.program.path("cache"), file, &mut found);
        let number = |path: &PathBuf| std::fs::read_to_string(path).ok()?.lines().next()?.trim().parse().ok();
        found.iter().filter_map(number).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if self.on.starts_with("local:") {
            let _ = self.program.command(&format!("db down {} --remove", self.on)).output();
            // One whose device was taken away with a test that failed is seen by its command line alone, and what outlived one that
            // was killed by where it works.
            let ours = self.program.dir().as_os_str().as_encoded_bytes();
            for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
                let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
                let works = std::fs::read_link(process.path().join("cwd")).unwrap_or_default();
                let number = process.file_name().to_str().and_then(|name| name.parse().ok());
                if let Some(number) = number.and_then(Pid::from_raw)
                    && (works.starts_with(self.program.dir()) || line.windows(ours.len()).any(|part| part == ours))
                {
                    let _ = kill_process(number, Signal::KILL);
                }
            }
        }
    }
}

/// All files of this name below a folder.
fn find(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, name, found);
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
}
