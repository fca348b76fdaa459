//! A run file of any bytes is read or refused, and so is a histogram.
//!
//! A file that starts with the mark of SQLite is taken as it is. Any other input is a list of changes to a good file: three bytes
//! of place and one of value each. So the fuzzer gets behind the header, which it would hardly guess.

use observation::CellSource as _;
use std::path::Path;
use std::sync::OnceLock;
use store::{RunFile, StoreError, decode, encode};

const GOOD: &[u8] = include_bytes!("../../crates/store/tests/data/v1.prony");

/// Decodes the bytes as a histogram, then reads them as a run file.
pub fn run_file_reader(bytes: &[u8]) {
    if let Ok(histogram) = decode(bytes) {
        assert_eq!(decode(&encode(&histogram)).as_ref(), Ok(&histogram));
    }
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| tempfile::tempdir().expect("a folder for temporary files"));
    // One name a thread: tests run side by side.
    let path = dir.path().join(format!("{:?}.prony", std::thread::current().id()));
    std::fs::write(&path, file_of(bytes)).expect("a temporary file");
    if let Err(error) = read_all(&path) {
        assert!(error.to_string().contains(".prony"), "the error does not name the file: {error}");
    }
}

fn file_of(bytes: &[u8]) -> Vec<u8> {
    if bytes.starts_with(b"SQLite format 3\0") {
        return bytes.to_vec();
    }
    let mut file = GOOD.to_vec();
    for change in bytes.chunks_exact(4) {
        let at = usize::from(change[0]) << 16 | usize::from(change[1]) << 8 | usize::from(change[2]);
        let length = file.len();
        file[at % length] = change[3];
    }
    file
}

fn read_all(path: &Path) -> Result<(), StoreError> {
    let file = RunFile::open(path)?;
    file.facts()?;
    for trial in file.trials()? {
        file.observations(trial.label.index)?;
        file.cells(trial.label.index)?.each(&mut |_| ())?;
    }
    file.close()
}
