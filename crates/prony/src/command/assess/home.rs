//! Where the mirror will be: whose machine and disk it has, and how long a flush takes there.

use crate::failure::Failure;
use advisor::assess::{Home, Kind};
use database::assess::Standing;
use recorder::{Clock, WallClock};
use std::fs::OpenOptions;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use study::DatabaseSpec;
use units::Nanos;

/// Bytes of a flush: a page of the log.
const PAGE: usize = 8192;
/// Flushes at the most.
const FLUSHES: u32 = 200;
/// Nobody flushes for longer.
const LONGEST: Nanos = Nanos(1_000_000_000);

/// A mirror on the server's machine, which must be this one.
pub(super) fn shared(
    spec: &DatabaseSpec,
    kind: Kind,
    standing: &Standing,
    dir: Option<&Path>,
) -> Result<Home, Failure> {
    let refused = |why: &str, hint: &str| {
        Err(Failure::new(format!("assessing `{}` with --mirror-on same-host: {why}", spec.shown())).hint(hint))
    };
    if kind != Kind::Commit {
        let why =
            format!("what a mirror of the kind `{}` takes of processors that it shares is not known", kind.word());
        return refused(&why, "leave --mirror-on out, or choose --kind commit of a PostgreSQL");
    }
    let Some(process) = standing.process else {
        return refused(
            "its processes are not seen on this machine",
            "run this where the server runs, or leave --mirror-on out",
        );
    };
    // The log may lie elsewhere behind a link, which is followed. What may not be looked at is taken for one disk.
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    let of_log = device(Path::new(&format!("/proc/{process}/cwd/pg_wal")));
    let one_disk = of_log.zip(dir.and_then(device)).is_none_or(|(own, other)| own == other);
    Ok(Home::Shared { one_disk })
}

/// Seconds of a flush in a folder, the mean of some.
pub(super) fn flush_s(dir: &Path) -> Result<f64, Failure> {
    let path = dir.join(format!(".prony-flush-{}", std::process::id()));
    let timed = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let page = [1; PAGE];
        // The first flush makes the file longer; none behind it does, as with a log whose files are used again.
        file.write_all(&page)?;
        file.sync_all()?;
        let clock = WallClock::new();
        let (begun, mut count) = (clock.now(), 0);
        while count < FLUSHES && clock.now().saturating_sub(begun) < LONGEST {
            file.rewind()?;
            file.write_all(&page)?;
            file.sync_data()?;
            count += 1;
        }
        Ok(clock.now().saturating_sub(begun).seconds() / f64::from(count))
    };
    let found = timed();
    let removed = std::fs::remove_file(&path);
    found.and_then(|seconds| removed.map(|()| seconds)).map_err(|error: std::io::Error| {
        Failure::caused(format!("timing flushes in `{}` (--mirror-dir)", dir.display()), &error)
            .hint("name a folder in which you may write")
    })
}
