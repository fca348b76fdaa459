//! Many inputs without feedback: `many TARGET INPUTS [SEED] CORPUS...` changes the files of the corpora at random and feeds them.
//!
//! The one idea: what a guided fuzzer found is a good place to look around, and without its counters a core tries several times as
//! many inputs. An input that takes longer than a second, or a gigabyte of memory, ends it like a panic does; the input is left in
//! `many-TARGET.input`.

#[path = "../tests/lying_server.rs"]
mod lying_server;
#[path = "../tests/mariadb_server.rs"]
mod mariadb_server;
#[path = "../tests/model_reader.rs"]
mod model_reader;
#[path = "../tests/postgres_wire.rs"]
mod postgres_wire;
#[path = "../tests/row_reader.rs"]
mod row_reader;
#[path = "../tests/run_file_reader.rs"]
mod run_file_reader;
#[path = "../tests/script_parser.rs"]
mod script_parser;
#[path = "../tests/study_parser.rs"]
mod study_parser;

use random::Draws;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer inputs take longer and show little more.
const LENGTH_MAX: usize = 4096;
/// Of CPU, so that a busy machine ends nothing.
const INPUT_MAX: Duration = Duration::from_secs(1);
/// Of memory, resident.
const MEMORY_MAX: u64 = 1 << 30;

fn body(target: &str) -> fn(&[u8]) {
    match target {
        "mariadb_server" => mariadb_server::mariadb_server,
        "model_reader" => model_reader::model_reader,
        "postgres_server" => lying_server::postgres_server,
        "postgres_wire" => postgres_wire::postgres_wire,
        "row_reader" => row_reader::row_reader,
        "run_file_reader" => run_file_reader::run_file_reader,
        "script_parser" => script_parser::script_parser,
        "study_parser" => study_parser::study_parser,
        other => panic!("no target is named {other}"),
    }
}

/// A place below `end`, or 0 where there is none.
fn below(draws: &mut Draws, end: usize) -> usize {
    draws.below(end.max(1) as u64) as usize
}

/// A stretch of at most `most` of so many.
fn stretch(draws: &mut Draws, of: usize, most: usize) -> std::ops::Range<usize> {
    let start = below(draws, of + 1);
    start..(start + below(draws, most + 1)).min(of)
}

/// One to eight changes: bits, bytes, numbers, stretches that go, come twice, or come from another file.
fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], draws: &mut Draws) {
    const NUMBERS: [&str; 10] =
        ["0", "-1", "1e18", "1e-300", "nan", "18446744073709551616", "0.0000001", "99999999", "inf", "007"];
    for _ in 0..=below(draws, 8) {
        let at = below(draws, input.len());
        match below(draws, 8) {
            0 if !input.is_empty() => input[at] ^= 1 << below(draws, 8),
            1 if !input.is_empty() => input[at] = draws.bits() as u8,
            2 => drop(input.drain(stretch(draws, input.len(), 16))),
            3 => input.insert(at.min(input.len()), draws.bits() as u8),
            4 => {
                let twice = input[stretch(draws, input.len(), 64)].to_vec();
                input.splice(at..at, twice);
            }
            5 => {
                let other = &corpus[below(draws, corpus.len())];
                let taken = other[stretch(draws, other.len(), 128)].to_vec();
                input.splice(stretch(draws, input.len(), 32), taken);
            }
            6 => {
                let number = NUMBERS[below(draws, NUMBERS.len())];
                input.splice(stretch(draws, input.len(), 4), number.bytes());
            }
            _ => {
                let bytes = draws.bits().to_be_bytes();
                input.splice(stretch(draws, input.len(), 4), bytes[below(draws, 8)..].iter().copied());
            }
        }
    }
    input.truncate(LENGTH_MAX);
}

fn corpus(places: &[String]) -> Vec<Vec<u8>> {
    let files = places.iter().flat_map(|place| std::fs::read_dir(place).expect("a folder of inputs"));
    let files = files.filter_map(|file| std::fs::read(file.expect("an input").path()).ok());
    let mut corpus: Vec<Vec<u8>> = files.filter(|input| input.len() <= LENGTH_MAX).collect();
    corpus.push(Vec::new());
    // Folders list their files in any order.
    corpus.sort();
    corpus
}

/// Ends the process when one input takes too much.
fn watch(target: &str, tried: Arc<AtomicU64>, input: Arc<Mutex<Vec<u8>>>) {
    let name = format!("many-{target}.input");
    let leave = move |why: &str, input: &Mutex<Vec<u8>>| {
        let input = input.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::fs::write(&name, &*input).expect("the input can be left");
        eprintln!("{why}: left in {name}");
        std::process::exit(1);
    };
    let (panicked, at_panic) = (leave.clone(), input.clone());
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        told(panic);
        panicked("panicked", &at_panic);
    }));
    std::thread::spawn(move || {
        let mut last = (u64::MAX, cpu());
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let now = tried.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, cpu());
            } else if cpu() - last.1 > INPUT_MAX {
                leave("took more than a second", &input);
            }
            if resident() > MEMORY_MAX {
                leave("took more than a gigabyte", &input);
            }
        }
    });
}

/// CPU of the process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let [target, inputs, seed, places @ ..] = asked.as_slice() else {
        panic!("many TARGET INPUTS SEED CORPUS...");
    };
    let (feed, inputs) = (body(target), inputs.parse::<u64>().expect("a count of inputs"));
    let (corpus, mut draws) = (corpus(places), Draws::named(seed.parse().expect("a seed"), &[]));
    let (tried, shown) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    assert!(Path::new("/proc/self/statm").exists(), "memory is watched in /proc");
    watch(target, tried.clone(), shown.clone());
    let began = Instant::now();
    for count in 1..=inputs {
        let mut input = corpus[below(&mut draws, corpus.len())].clone();
        let is_text = std::str::from_utf8(&input).is_ok();
        change(&mut input, &corpus, &mut draws);
        // Readers of text refuse anything else at once, and would see little of the changes.
        if is_text && below(&mut draws, 16) > 0 {
            input = String::from_utf8_lossy(&input).into_owned().into_bytes();
        }
        shown.lock().expect("nobody panics with it").clone_from(&input);
        feed(&input);
        tried.store(count, Ordering::Relaxed);
        if count.is_multiple_of(1 << 20) || count == inputs {
            let rate = count as f64 / began.elapsed().as_secs_f64();
            println!("{target}: {count} inputs from {} files, seed {seed}, {rate:.0} a second", corpus.len());
        }
    }
}
