//! The bodies of the fuzzers on a small corpus with seeded changes, so that they cannot rot between long runs.

#[path = "../../fuzz/bodies/model_reader.rs"]
mod model_reader;
#[path = "../../fuzz/bodies/row_reader.rs"]
mod row_reader;
#[path = "../../fuzz/bodies/run_file_reader.rs"]
mod run_file_reader;
#[path = "../../fuzz/bodies/script_parser.rs"]
mod script_parser;
#[path = "../../fuzz/bodies/study_parser.rs"]
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

/// A script with something of everything.
const SCRIPT: &str = r#"
\set a random(1, 100 * :scale) + hash(:client_id) % 7
\set b case when :a > 5 and not :a is null then -1.5e3 else least(:x, ~2, 3) end
BEGIN; -- a comment; :a
update t set n = n + :a where name = 'it''s :b' and k = $$;$$ /* ; */;
select (1; 2), E'\';', :a::int \; select :b as c \aset p_
\if :a < 50
\sleep 10 us
\elif :b = 3
\startpipeline
select :a;
\endpipeline
\else
select count(*) as n from t \gset
\endif
END;
"#;

#[test]
fn changed_scripts_are_run_or_refused_with_words() {
    let mut changes = Changes(3);
    script_parser::script_parser(SCRIPT.as_bytes());
    for _ in 0..400 {
        script_parser::script_parser(&changes.applied_to(SCRIPT.as_bytes()));
    }
}
