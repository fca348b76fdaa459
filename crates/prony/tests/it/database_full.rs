//! A disk that fills up under a database, in the middle of a run and in the middle of a fill: it is said where, the books
//! close, nothing hangs, and everything goes on once there is room. Only root can mount the small disk that this needs.

use crate::house::House;
use crate::program::{Going, skipped};
use crate::small::{Small, fill, filler};
use std::fs;
use std::time::Duration;

const SETS: &str = "--set preset=desk --set customers=50 --set days=1";

/// Long enough to fill a disk in it.
const LONG: &str = "--set sessions=4 --set measure=12s --set warm_up=0s --set check=false";

/// A database whose every file is on a small disk. The house goes first: it ends its servers.
struct Ground {
    house: House,
    small: Small,
}

impl Ground {
    /// None, said and counted, where nothing may be mounted or no server is installed.
    fn new(on: &'static str, size: &str) -> Option<Ground> {
        let house = House::new(on);
        let Some(small) = Small::mount(house.program.path("cache"), size) else {
            skipped("mounting a tmpfs needs root");
            return None;
        };
        let ground = Ground { house, small };
        if on.starts_with("local:") {
            let ran = ground.house.program.run(&format!("db up {on}"));
            if ran.stderr.contains("is not installed") {
                skipped(&format!("no package of {on}"));
                return None;
            }
            assert_eq!(ran.code, Some(0), "db up {on}\n{ran}");
        }
        Some(ground)
    }

    fn free(&self) {
        fs::remove_file(self.small.path.join("filler")).expect("the filler goes");
    }

    /// Takes all space again and again until the program has ended, and gives what it said.
    fn starve(&self, mut going: Going) -> (Option<i32>, String) {
        let mut filler = filler(&self.small.path);
        while going.runs() {
            fill(&mut filler);
            std::thread::sleep(Duration::from_millis(5));
        }
        going.end()
    }

    /// What holds of every engine.
    fn fills_up_in_mid_run(&self) {
        let (house, program) = (&self.house, &self.house.program);
        program.fine(&house.line("db fill", SETS));
        let mut going = program.start(&house.line("run", &format!("{SETS} {LONG} --verbose -o x.prony")));
        going.until("· measure", 1);
        // Some intervals end before the disk is full.
        std::thread::sleep(Duration::from_millis(2500));
        let (code, told) = self.starve(going);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("cache/"), "the place is not named\n{told}");
        assert!(told.contains("hint: free space on the disk"), "{told}");
        assert!(told.contains("prony run --resume x.prony"), "{told}");
        let shown = program.json("show x.prony --json");
        let trial = &shown["trials"][0];
        let count = |key: &str| trial[key].as_u64().expect("a count");
        assert_eq!(count("planned"), count("done") + count("failed") + count("censored"), "{trial:#}");
        let answer = shown["answer"][0].as_str().expect("an answer");
        assert!(answer.starts_with("Trial 0: the database had no room left on its disk"), "{answer}");
        self.free();
        let checked = program.json(&house.line("db check", &format!("{SETS} --json")));
        assert_eq!(checked["datasets"][0]["passed"], true, "{checked:#}");
        program.fine("run --resume x.prony --quiet");
        let resumed = program.json("show x.prony --json");
        let answer = resumed["answer"].as_array().expect("sentences");
        assert!(!answer[0].to_string().contains("no room left"), "{answer:?}");
        assert!(answer[1..].iter().any(|behind| behind.to_string().contains("no room left")), "{answer:?}");
        self.stops();
    }

    fn fills_up_in_mid_fill(&self) {
        let (house, program) = (&self.house, &self.house.program);
        let sets = "--set preset=desk --set customers=2000 --set days=5";
        let mut going = program.start(&house.line("db fill", &format!("{sets} --verbose")));
        going.until("rows: ", 1);
        let (code, told) = self.starve(going);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("no room left on the disk") && told.contains("cache/"), "{told}");
        assert!(told.contains("hint: free space there"), "{told}");
        if house.on == "sqlite:" {
            let left = fs::read_dir(&self.small.path).expect("the cache").filter_map(Result::ok);
            let left: Vec<_> =
                left.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "sqlite")).collect();
            assert!(left.is_empty(), "a fill that cannot be used takes the room: {left:?}");
        }
        self.free();
        // What was cut off is known as such, and begun anew.
        let told = program.fine(&house.line("db fill", SETS));
        assert!(told.contains("was filled with"), "{told}");
        self.stops();
    }

    fn stops(&self) {
        if self.house.on.starts_with("local:") {
            let told = self.house.program.fine(&format!("db down {} --remove", self.house.on));
            assert!(told.contains("stopped and removed"), "{told}");
        }
    }
}

#[test]
fn a_disk_that_fills_up_under_a_run_on_sqlite_is_named_and_all_goes_on_with_room_again() {
    let Some(ground) = Ground::new("sqlite:", "48m") else { return };
    ground.fills_up_in_mid_run();
}

#[test]
fn a_disk_that_fills_up_under_a_run_on_postgres_is_named_and_all_goes_on_with_room_again() {
    let Some(ground) = Ground::new("local:postgres", "400m") else { return };
    ground.fills_up_in_mid_run();
}

#[test]
fn a_disk_that_fills_up_under_a_run_on_mariadb_is_named_and_all_goes_on_with_room_again() {
    let Some(ground) = Ground::new("local:mariadb", "600m") else { return };
    ground.fills_up_in_mid_run();
}

#[test]
fn a_disk_that_fills_up_under_a_fill_of_sqlite_is_named_and_the_fill_is_begun_anew() {
    let Some(ground) = Ground::new("sqlite:", "96m") else { return };
    ground.fills_up_in_mid_fill();
}

#[test]
fn a_disk_that_fills_up_under_a_fill_of_postgres_is_named_and_the_fill_is_begun_anew() {
    let Some(ground) = Ground::new("local:postgres", "600m") else { return };
    ground.fills_up_in_mid_fill();
}

#[test]
fn a_disk_that_fills_up_under_a_fill_of_mariadb_is_named_and_the_fill_is_begun_anew() {
    let Some(ground) = Ground::new("local:mariadb", "900m") else { return };
    ground.fills_up_in_mid_fill();
}
