//! A run file of any bytes is read or refused, and so is a histogram; and whatever lies beside it, reading changes nothing.
//!
//! A file that starts with the mark of SQLite is taken as it is. Any other input is a list of changes, of six bytes each, to a good
//! file and to what lies beside it. So the fuzzer gets behind the header, which it would hardly guess.

use observation::CellSource as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use store::{RunFile, StoreError, decode, encode};

const GOOD: &[u8] = include_bytes!("../../crates/store/tests/data/v1.prony");
const PAGE: usize = 4096;

/// Decodes the bytes as a histogram, then reads them as a run file.
pub fn run_file_reader(bytes: &[u8]) {
    if let Ok(histogram) = decode(bytes) {
        assert_eq!(decode(&encode(&histogram)).as_ref(), Ok(&histogram));
    }
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| tempfile::tempdir().expect("a folder for temporary files"));
    // One folder a thread: tests run side by side.
    let dir = dir.path().join(format!("{:?}", std::thread::current().id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let path = dir.join("run.prony");
    std::fs::write(dir.join("precious"), "a day of work").expect("a temporary file");
    let planted = Planted::by(bytes, &dir);
    planted.write(&path);
    // Either way of reading takes most of a millisecond, and a mutation finds its way to the other one.
    let read = if bytes.len().is_multiple_of(2) { read_all(&path) } else { glance(&path) };
    if let Err(error) = read {
        assert!(error.to_string().contains(".prony"), "the error does not name the file: {error}");
    }
    assert_eq!(std::fs::read(dir.join("precious")).expect("it is there"), b"a day of work");
    assert!(planted.is_there(&path), "reading changed something");
}

/// A run file, and the log and the journal beside it.
struct Planted {
    run: Vec<u8>,
    log: Vec<u8>,
    journal: Vec<u8>,
}

impl Planted {
    fn by(bytes: &[u8], dir: &Path) -> Planted {
        let mut planted = Planted { run: GOOD.to_vec(), log: Vec::new(), journal: Vec::new() };
        if bytes.starts_with(b"SQLite format 3\0") {
            planted.run = bytes.to_vec();
        } else {
            bytes.chunks_exact(6).for_each(|change| planted.change(change, dir));
        }
        planted
    }

    fn change(&mut self, change: &[u8], dir: &Path) {
        let &[what, a, b, c, d, e] = change else { return };
        let place = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        let pages = self.run.len() / PAGE;
        let page = |number: u8| usize::from(number) % pages.max(1) * PAGE;
        match what % 8 {
            0 => put(&mut self.run, place, &[d]),
            // A number of a page, in a cell of a tree or at the beginning of a chain.
            1 => put(&mut self.run, page(a) + usize::from(b) * 16 + usize::from(c) % 16, &[0, 0, d, e]),
            2 => put(&mut self.run, page(a) + usize::from(b), &[d, e]),
            3 if pages > 0 => self.run.copy_within(page(a)..page(a) + PAGE, page(b)),
            4 => self.run.truncate(place),
            5 => self.log.extend([a, b, c, d, e]),
            6 => self.journal = journal_that_names(&dir.join("precious")),
            _ => put(&mut self.journal, place, &[d, e]),
        }
    }

    fn files<'a>(&'a self, path: &Path) -> [(PathBuf, &'a Vec<u8>); 3] {
        let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
        [(path.to_path_buf(), &self.run), (beside("-wal"), &self.log), (beside("-journal"), &self.journal)]
    }

    fn write(&self, path: &Path) {
        for (at, (name, bytes)) in self.files(path).into_iter().enumerate() {
            let _ = std::fs::remove_file(&name);
            if at == 0 || !bytes.is_empty() {
                std::fs::write(name, bytes).expect("a temporary file");
            }
        }
    }

    fn is_there(&self, path: &Path) -> bool {
        self.files(path).into_iter().all(|(name, bytes)| std::fs::read(name).unwrap_or_default() == *bytes)
    }
}

fn put(bytes: &mut [u8], place: usize, new: &[u8]) {
    let length = bytes.len().max(1);
    for (at, byte) in (place..).zip(new) {
        if let Some(old) = bytes.get_mut(at % length) {
            *old = *byte;
        }
    }
}

/// A journal that is to be rolled back, of a change that concerns another file too.
fn journal_that_names(named: &Path) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let name = named.as_os_str().as_encoded_bytes();
    let mut bytes = MAGIC.to_vec();
    for number in [0u32, 7, 1, 512, PAGE as u32] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.resize(512, 0);
    bytes.extend((0x4000_0000u32 / PAGE as u32 + 1).to_be_bytes());
    bytes.extend(name);
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(name.iter().map(|byte| u32::from(*byte)).sum::<u32>().to_be_bytes());
    bytes.extend(MAGIC);
    bytes
}

fn glance(path: &Path) -> Result<(), StoreError> {
    RunFile::glance(path)?.facts().map(drop)
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
