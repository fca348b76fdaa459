//! Whether closed form and simulation of a shipped model say the same, over questions drawn at random.
//!
//! The one idea: every model that studies run on is asked what a study could ask, in several states of its parts. The closed
//! form holds where it is within 3 percent of the simulation on rates and 5 on responses, or where its interval says that
//! it may be further off; or it refuses, and then `predict` simulates.

mod draw;
mod drive;

use draw::{Load, Question};
use model::file::{self, Description};
use model::kind::Unanswered;
use model::rows::Row;
use random::Draws;
use std::fmt::Write as _;

/// Shipped models, each with the states in which it is asked.
const MODELS: &[(&str, &[&str])] = &[
    ("f5100", &["", "", "failed_ports=3", "failed_channels=1 failed_modules=20", "write_credit=3000", "sector=8"]),
    (
        "disk-array",
        &[
            "",
            "write_cache=0",
            "write_cache=20",
            "variation=1",
            "variation=0",
            "failed_modules=2",
            "failed_modules=1 rebuilding=1",
            "failed_controllers=1 failed_paths=1",
            "level=10",
            "distance_km=100 policy=1",
            "power_loss_at=1 power_loss=2",
        ],
    ),
    (
        "flash-array-2d",
        &[
            "",
            "write_cache=0",
            "write_cache=5",
            "failed_channels=1 failed_paths=5",
            "failed_modules=1",
            "level=6 policy=2",
        ],
    ),
    ("this-machine", &["", "wake_time=40"]),
    ("nand-device", &["", "spare=50", "dies=2", "buffer=64"]),
    ("disk-15k", &["", "zones=1", "settle=1"]),
    ("tiered", &["", "fast_share=0", "fast_share=100", "skew=0", "mover_speed=0", "drift=30"]),
    ("s824-fs840", &["", "jobs=64", "misses=4"]),
    ("power770-san", &["", "jobs=64", "misses=2"]),
    ("small-server", &["", "cores=16", "read_time=900"]),
    (
        "mirror-case1",
        &["source_cores=10", "source_cores=8 mirroring=2", "source_cores=4 on_disks=1", "source_cores=6 suspended=1"],
    ),
    (
        "mirror-case2",
        &[
            "source_cores=22 target_cores=11",
            "source_cores=22 mirroring=0",
            "source_cores=12 mirroring=2",
            "source_cores=22 distance=100",
            "source_cores=22 target_log=1",
            "source_cores=22 link_speed=1 link_share=80 trip_bytes=1000",
            "source_cores=22 target_workers=1",
        ],
    ),
    ("mirror-case3", &["source_cores=8", "source_cores=8 target_cores=2"]),
];

/// What became of the questions of one model.
#[derive(Default)]
struct Found {
    asked: usize,
    refused: usize,
    /// By how many percent rates are off, and responses.
    off: [Vec<f64>; 2],
    /// How many are within their limits, or within their intervals.
    held: usize,
    /// What is further off than it may be.
    failed: Vec<String>,
}

/// How far off a rate and a response may be, percent.
const MOST: [f64; 2] = [3.0, 5.0];

fn described(name: &str, changes: &str) -> Description {
    let text = model::models().iter().find(|model| model.name == name).expect("it ships").text;
    let pair = |part: &str| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let changes: Vec<_> = changes.split_whitespace().filter_map(pair).collect();
    let described = file::read(name, text).unwrap_or_else(|problems| panic!("{problems}"));
    described.changed(&changes).unwrap_or_else(|problems| panic!("{name} {changes:?}: {problems}"))
}

/// The quantities of a kind that a simulation gives, and which of the two they are.
fn quantities(model: &Description, question: &Question) -> impl Iterator<Item = (&'static str, usize)> {
    let at_once = question.load == Load::Closed { population: question.slots, think_s: 0.0 };
    model.kind.answers().iter().filter_map(move |quantity| match quantity.name {
        "rate" | "throughput" => Some((quantity.name, 0)),
        "response" => Some((quantity.name, 1)),
        "service-time" if at_once => Some((quantity.name, 1)),
        _ => None,
    })
}

fn ask(model: &Description, changes: &str, question: &Question, found: &mut Found) {
    found.asked += 1;
    let counted = model.counted("throughput");
    let mut simulated = None;
    for (quantity, which) in quantities(model, question) {
        let formal = match model.answer(&question.row, quantity) {
            Ok(formal) => formal,
            Err(Unanswered::Simulated(_)) => {
                found.refused += usize::from(which == 0);
                continue;
            }
            // A service time is that of one for each module; with more of them there is none.
            Err(Unanswered::Unknown { column, .. }) if quantity == "service-time" && column == "outstanding" => {
                continue;
            }
            Err(error) => panic!("{} {changes} {:?}: {error}", model.name, question.row.cells),
        };
        let seen = *simulated.get_or_insert_with(|| drive::drive(model, question));
        let (value, formal) = (seen[which], if which == 0 { formal / counted } else { formal });
        let (low, high) = model.interval(&question.row, quantity, 0.0);
        let (low, high) = if which == 0 { (low / counted, high / counted) } else { (low, high) };
        let off = 100.0 * (formal / value - 1.0);
        found.off[which].push(off.abs());
        let inside = (low..=high).contains(&value);
        found.held += usize::from(off.abs() <= MOST[which] || inside);
        // A run as short as here scatters, so that as much again is granted where the interval covers it.
        let most = if inside { 2.0 * MOST[which] } else { MOST[which] };
        if off.abs() > most {
            let words: Vec<String> =
                question.row.cells.iter().map(|(column, cell)| format!("{column}={cell}")).collect();
            found.failed.push(format!(
                "{} [{changes}] {quantity} {formal:.4} for {value:.4} ({off:+.1} %): {}",
                model.name,
                words.join(" ")
            ));
        }
    }
}

fn spread(off: &mut [f64]) -> String {
    off.sort_by(f64::total_cmp);
    off.last().map_or_else(|| "-".to_owned(), |worst| format!("{:.1} %, {worst:.1} %", off[off.len() / 2]))
}

/// The table, and what is further off than it may be.
fn grid(rounds: usize, operations: f64) -> (String, Vec<String>) {
    let mut table = String::from(
        "| model | questions | refused | rates: median, worst | responses: median, worst | hold |\n|---|---|---|---|---|---|\n",
    );
    let mut failed = Vec::new();
    for (number, (name, states)) in MODELS.iter().enumerate() {
        let (mut found, mut random) = (Found::default(), Draws::numbered(1, number as u64));
        for changes in states.iter().cycle().take(rounds * states.len()) {
            let model = described(name, changes);
            ask(&model, changes, &Question::draw(&model, &mut random, operations), &mut found);
        }
        let answers = found.off[0].len() + found.off[1].len();
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {} of {answers} |",
            found.asked,
            found.refused,
            spread(&mut found.off[0]),
            spread(&mut found.off[1]),
            found.held
        );
        failed.append(&mut found.failed);
    }
    (table, failed)
}

#[test]
fn closed_forms_agree_with_the_simulation_of_the_same_model_or_leave_the_question_to_it() {
    let (table, failed) = grid(2, 5_000.0);
    assert!(failed.is_empty(), "{}\n{table}", failed.join("\n"));
}

#[test]
fn users_who_think_keep_a_pair_full_in_closed_form_as_in_simulation() {
    for (changes, threads, population, think_s) in [
        // Its own cores, those of the target, the link and the jobs there are what is full.
        ("source_cores=2", 32, 200, 0.02),
        ("source_cores=22 target_cores=1", 64, 400, 0.01),
        ("source_cores=22 link_speed=1 trip_bytes=2000", 128, 400, 0.01),
        ("source_cores=22 target_workers=1", 128, 400, 0.01),
        ("source_cores=2 mirroring=2", 64, 300, 0.02),
        // And none of them is.
        ("source_cores=22 target_workers=1", 128, 60, 0.02),
    ] {
        let model = described("mirror-case2", changes);
        let cells = [("threads", threads.to_string()), ("population", population.to_string())];
        let cells = cells.into_iter().chain([("think_ms", (1e3 * think_s).to_string())]);
        let cells = cells.map(|(column, text)| (column.to_owned(), text)).collect();
        let question = Question {
            row: Row { cells, ..Row::default() },
            load: Load::Closed { population, think_s },
            slots: threads,
            modules: 1,
            module_bytes: 0,
            spec: None,
            warm_up_s: 1.0,
            window_s: 5.0,
            seed: 3,
        };
        let seen = drive::drive(&model, &question);
        for (quantity, which) in quantities(&model, &question) {
            let formal = model.answer(&question.row, quantity).unwrap_or_else(|error| panic!("{changes}: {error}"));
            let off = 100.0 * (formal / seen[which] - 1.0);
            assert!(off.abs() <= MOST[which], "{changes}: {quantity} {formal} for {} ({off:+.1} %)", seen[which]);
        }
    }
}

#[test]
fn large_transfers_of_which_none_waits_for_another_agree_with_the_simulation_or_are_left_to_it() {
    let storage = MODELS.iter().enumerate().filter(|(_, (name, _))| model::modules(&described(name, "")).is_some());
    let (mut found, mut asked) = (Found::default(), 0);
    for (number, (name, states)) in storage {
        let mut random = Draws::numbered(2, number as u64);
        for changes in states.iter().cycle().take(2 * states.len()) {
            let model = described(name, changes);
            let large = |question: &Question| {
                question.slots <= question.modules && question.row.number("transfer_kb") >= Some(1_024.0)
            };
            let drawn = std::iter::repeat_with(|| Question::draw(&model, &mut random, 3_000.0)).find(large);
            ask(&model, changes, &drawn.expect("they never end"), &mut found);
            asked += 1;
        }
    }
    assert!(found.failed.is_empty(), "{}", found.failed.join("\n"));
    assert!(found.refused < asked, "the closed form answers some of them");
}

#[test]
fn more_modules_than_a_machine_has_are_refused_with_their_number_unless_it_grows() {
    let asked = |name: &str, modules: u32| {
        let table =
            format!("row_id,test,op,transfer_kb,modules,outstanding\na,random_read,read,4,{modules},{modules}\n");
        described(name, "").answer(&model::rows::read(&table).expect("a table").rows[0], "rate")
    };
    for (name, has) in [("disk-array", 6), ("flash-array-2d", 1), ("this-machine", 1), ("tiered", 1)] {
        assert!(asked(name, has).is_ok(), "{name}: {:?}", asked(name, has));
        let refused = asked(name, has + 1);
        assert!(
            matches!(refused, Err(Unanswered::Beyond { column: "modules", most, .. }) if most == has),
            "{refused:?}"
        );
    }
    assert!(asked("f5100", 160).is_ok());
}

#[test]
fn what_only_the_simulation_has_is_refused_by_name() {
    const BLOCK: &str = "test=random_read op=read transfer_kb=8 modules=1 outstanding=1 warm_up_s=1";
    let question = |changes: &str| -> Row {
        let words = format!("{BLOCK} {changes}");
        let cells = words.split_whitespace().filter_map(|word| word.split_once('='));
        Row { cells: cells.map(|(column, text)| (column.to_owned(), text.to_owned())).collect(), ..Row::default() }
    };
    for asked in ["op=rw50 test=random_rw50", "transfer_kb=32"] {
        let of_several = described("nand-device", "").answer(&question(asked), "service-time");
        let told =
            matches!(&of_several, Err(Unanswered::Simulated(why)) if why.contains("reads that wait for other pages"));
        assert!(told, "{asked}: {of_several:?}");
    }
    for (name, changes, asked, why) in [
        ("f5100", "", "test=random_rw70 outstanding=8", "neither idle nor full"),
        ("f5100", "", "think_ms=5 population=2", "think times and arrivals"),
        ("disk-array", "", "test=random_write", "writes that a cache holds"),
        ("disk-array", "", "outstanding=8", "neither idle nor full"),
        ("disk-array", "failed_modules=1 rebuilding=1", "", "a rebuild"),
        ("disk-array", "power_loss=1", "", "a loss of power"),
        ("disk-array", "", "transfer_kb=1024", "wait for each other at a module"),
        ("disk-array", "", "sizes=2", "several sizes"),
        ("flash-array-2d", "", "transfer_kb=19.2 sizes=2", "several sizes"),
        ("f5100", "", "sizes=2", "several sizes"),
        ("this-machine", "", "sizes=3", "several sizes"),
        ("nand-device", "", "", "so many outstanding"),
        ("disk-15k", "", "outstanding=2", "more than one outstanding"),
        ("disk-15k", "", "test=seq_write", "an order that others interrupt"),
        ("disk-15k", "", "module_bytes=4294967296", "a part of a disk"),
        ("this-machine", "", "arrivals_per_s=100 arrivals=poisson", "think times and arrivals"),
        ("tiered", "", "", "which data happens to lie on flash"),
        ("tiered", "skew=0", "test=seq_read", "which data happens to lie on flash"),
        ("power770-san", "", "threads=1 population=4 think_ms=124", "wait for a place"),
        ("mirror-case2", "source_cores=22", "threads=1 arrivals_per_s=150 arrivals=poisson", "wait for a place"),
    ] {
        let quantity = if asked.contains("threads") { "throughput" } else { "rate" };
        let refused = described(name, changes).answer(&question(asked), quantity);
        let told = matches!(&refused, Err(Unanswered::Simulated(told)) if told.contains(why));
        assert!(told, "{name} {changes} {asked}: {refused:?}");
    }
}

#[test]
#[ignore = "draws the table of the documentation, for minutes in a release build"]
#[expect(clippy::disallowed_macros, reason = "the table is all that it is for")]
fn draw_table() {
    let (table, failed) = grid(25, 30_000.0);
    println!("{table}\n{}", failed.join("\n"));
}
