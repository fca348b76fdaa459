//! The bodies of the fuzzers on a small corpus with seeded changes, so that they cannot rot between long runs.

#[path = "../../fuzz/tests/lying_server.rs"]
mod lying_server;
#[path = "../../fuzz/tests/mariadb_server.rs"]
mod mariadb_server;
#[path = "../../fuzz/tests/model_reader.rs"]
mod model_reader;
#[path = "../../fuzz/tests/postgres_wire.rs"]
mod postgres_wire;
#[path = "../../fuzz/tests/row_reader.rs"]
mod row_reader;
#[path = "../../fuzz/tests/run_file_reader.rs"]
mod run_file_reader;
#[path = "../../fuzz/tests/script_parser.rs"]
mod script_parser;
#[path = "../../fuzz/tests/study_parser.rs"]
mod study_parser;

use std::path::Path;

/// A small generator: the same changes on every machine.
struct Changes(u64);

impl Changes {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }

    /// Bytes with some of them replaced, removed or copied to another place.
    fn applied_to(&mut self, bytes: &[u8]) -> Vec<u8> {
        const TELLING: &[u8] = b"[]{}=\"'#,.%-0149 \n\xffabs";
        let mut changed = bytes.to_vec();
        for _ in 0..1 + self.next(6) {
            let (at, length) = (self.next(changed.len()), 1 + self.next(12));
            let end = (at + length).min(changed.len());
            match self.next(4) {
                0 => drop(changed.drain(at..end)),
                1 => {
                    let piece = changed[at..end].to_vec();
                    let place = self.next(changed.len());
                    changed.splice(place..place, piece);
                }
                2 if at < changed.len() => changed[at] = self.next(256) as u8,
                _ => changed.insert(at, TELLING[self.next(TELLING.len())]),
            }
        }
        changed
    }
}

/// The name of a fuzzer and its body.
type Fuzzer = (&'static str, fn(&[u8]));

/// Where a fuzzer begins, and what one once found: each of these is fed to its body as it is.
#[test]
fn every_seed_is_taken_or_refused() {
    let bodies: [Fuzzer; 8] = [
        ("mariadb_server", mariadb_server::mariadb_server),
        ("model_reader", model_reader::model_reader),
        ("postgres_server", lying_server::postgres_server),
        ("postgres_wire", postgres_wire::postgres_wire),
        ("row_reader", row_reader::row_reader),
        ("run_file_reader", run_file_reader::run_file_reader),
        ("script_parser", script_parser::script_parser),
        ("study_parser", study_parser::study_parser),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let mut taken = 0;
    for (name, body) in bodies {
        for seed in std::fs::read_dir(folder.join(name)).into_iter().flatten() {
            body(&std::fs::read(seed.unwrap().path()).unwrap());
            taken += 1;
        }
    }
    let all = std::fs::read_dir(folder).unwrap().flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    assert_eq!(taken, all.count(), "seeds of a fuzzer that is not here");
}

fn shipped_studies() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../studies");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn changed_studies_are_planned_or_refused_with_words() {
    let mut changes = Changes(1);
    for study in shipped_studies() {
        study_parser::study_parser(&study);
        for _ in 0..150 {
            study_parser::study_parser(&changes.applied_to(&study));
        }
    }
}

#[test]
fn changed_run_files_are_read_or_refused_by_name() {
    let good = include_bytes!("../../crates/store/tests/data/v1.prony");
    let mut changes = Changes(2);
    run_file_reader::run_file_reader(good);
    run_file_reader::run_file_reader(&[]);
    for _ in 0..100 {
        run_file_reader::run_file_reader(&changes.applied_to(good));
        let patches: Vec<u8> = (0..6 * (1 + changes.next(8))).map(|_| changes.next(256) as u8).collect();
        run_file_reader::run_file_reader(&patches);
    }
}

#[test]
fn changed_rows_are_answered_or_refused() {
    let mut changes = Changes(4);
    for shipped in model::tables() {
        // A few rows are as good as all.
        let text: String =
            shipped.text.lines().filter(|line| !line.starts_with('#')).take(4).flat_map(|line| [line, "\n"]).collect();
        row_reader::row_reader(text.as_bytes());
        for _ in 0..40 {
            row_reader::row_reader(&changes.applied_to(text.as_bytes()));
        }
    }
}

#[test]
fn changed_models_are_read_or_refused_with_words() {
    let mut changes = Changes(5);
    for shipped in model::models() {
        model_reader::model_reader(shipped.text.as_bytes());
        for _ in 0..40 {
            model_reader::model_reader(&changes.applied_to(shipped.text.as_bytes()));
        }
    }
}

#[test]
fn changed_scripts_are_run_or_refused_with_words() {
    let script = include_bytes!("../../fuzz/seeds/script_parser/everything.sql");
    let mut changes = Changes(3);
    for _ in 0..400 {
        script_parser::script_parser(&changes.applied_to(script));
    }
}

#[test]
fn changed_conversations_are_answered_or_fail() {
    let conversation = include_bytes!("../../fuzz/seeds/postgres_wire/prepared");
    let mut changes = Changes(6);
    for _ in 0..2_000 {
        postgres_wire::postgres_wire(&changes.applied_to(conversation));
    }
}

#[test]
fn servers_that_lie_are_refused_with_words() {
    let mut changes = Changes(7);
    for how in 0..64 {
        let rest: Vec<u8> = (0..changes.next(60)).map(|_| changes.next(256) as u8).collect();
        lying_server::postgres_server(&[&[how], &rest[..]].concat());
    }
    for how in 0..=255 {
        for _ in 0..8 {
            let rest: Vec<u8> = (0..changes.next(60)).map(|_| changes.next(256) as u8).collect();
            mariadb_server::mariadb_server(&[&[how], &rest[..]].concat());
        }
    }
}
